"""Wilcoxon's signed rank test of pairs, exact, with its interval (Hollander, Wolfe and Chicken,
Nonparametric Statistical Methods, 3rd edition, chapter 3). Of the differences it takes only that
they lie symmetrically about their median: a run that was disturbed counts once, however long it
took."""

import functools


@functools.cache
def cumulated(count):
    """For each value of the rank sum of `count` differences about zero, the probability that it is
    not exceeded. Printed tables have 8 as the critical value of 10 pairs and 52 as that of 20, for
    one-sided 2.5 %:

    >>> [round(cumulated(10)[total], 4) for total in (8, 9)]
    [0.0244, 0.0322]
    >>> [round(cumulated(20)[total], 4) for total in (52, 53)]
    [0.0242, 0.0266]
    """
    ways = [1]
    for rank in range(1, count + 1):
        longer = [0] * (len(ways) + rank)
        for total, number in enumerate(ways):
            longer[total] += number
            longer[total + rank] += number
        ways = longer
    found, total = [], 0
    for number in ways:
        total += number
        found.append(total / 2 ** count)
    return found


def below(differences, bound):
    """The probability of ranks as low as these or lower if the median were `bound`. Of three
    differences below it, all do so once in eight times:

    >>> below([1, 2, 3], 4)
    0.125
    >>> below([1, 2, 5], 4)
    0.25
    """
    shifted = sorted((value - bound for value in differences if value != bound), key=abs)
    if not shifted:
        return 1.0
    total = sum(rank for rank, value in enumerate(shifted, 1) if value > 0)
    return cumulated(len(shifted))[total]


def interval(differences, level=0.95):
    """The estimate of the median by Hodges and Lehmann, and an interval of at least `level`; its
    ends are None where there are too few differences, below 6 for 95 %.

    >>> interval([1, 2, 3, 4, 5])
    (3.0, None, None)
    >>> interval([1, 2, 3, 4, 5, 60])
    (3.5, 1.0, 60.0)
    """
    count = len(differences)
    averages = sorted((differences[i] + differences[j]) / 2
                      for i in range(count) for j in range(i, count))
    last = len(averages) - 1
    middle = (averages[last // 2] + averages[(last + 1) // 2]) / 2
    outside = sum(share <= (1 - level) / 2 for share in cumulated(count))
    if outside == 0:
        return middle, None, None
    return middle, averages[outside - 1], averages[last - outside + 1]


def holm(probabilities):
    """The probabilities after Holm's correction for how many there are, in the same order.

    >>> [round(each, 2) for each in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    corrected, least = [1.0] * len(probabilities), 0.0
    for place, index in enumerate(order):
        least = max(least, min(1.0, probabilities[index] * (len(probabilities) - place)))
        corrected[index] = least
    return corrected
