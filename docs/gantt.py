#!/usr/bin/env python3
"""Draws a timeline in Paje's format, as `heddle run --timeline paje` writes it, as an SVG.

    heddle run pattern:dissemination --ranks 8 --size 256B -o out --timeline paje
    docs/gantt.py out/timeline.paje > docs/src/dissemination.svg

One lane per rank; a box is a busy CPU, a line a message from its injection to its arrival.
"""

import shlex
import sys

WIDTH, LANE, BOX, LEFT, TOP, RIGHT = 860, 34, 18, 70, 44, 16
COLOURS = {"compute": "#54a24b", "send": "#4c78a8", "receive": "#f58518"}


def read(path):
    """Returns the ranks' names by alias, busy intervals and messages; times in seconds."""
    ranks, values, pushed, started, busy, messages = {}, {}, {}, {}, [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("%"):
                continue
            kind, *fields = shlex.split(line)
            if kind == "3":
                values[fields[0]] = fields[2]
            elif kind == "4" and fields[2] == "R":
                ranks[fields[1]] = fields[4]
            elif kind == "6":
                pushed[fields[2]] = (float(fields[0]), values[fields[3]])
            elif kind == "7":
                start, value = pushed.pop(fields[2])
                busy.append((fields[2], start, float(fields[0]), value))
            elif kind == "8":
                started[fields[5]] = (fields[3], float(fields[0]))
            elif kind == "9":
                source, start = started.pop(fields[5])
                messages.append((source, start, fields[3], float(fields[0])))
    return ranks, busy, messages


def step(span):
    """A round distance of ticks: at most ten of them."""
    unit = 1e-12
    while True:
        for factor in (1, 2, 5):
            if span / (unit * factor) <= 10:
                return unit * factor
        unit *= 10


def draw(ranks, busy, messages):
    end = max(stop for _, _, stop, _ in busy)
    lanes = {alias: TOP + LANE * number for number, alias in enumerate(ranks)}
    height = TOP + LANE * len(ranks) + 34
    scale = (WIDTH - LEFT - RIGHT) / end
    across = lambda time: f"{LEFT + time * scale:.1f}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="13" fill="#222">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    used = [value for value in COLOURS if any(entry[3] == value for entry in busy)]
    place = LEFT
    for value in used:
        out.append(f'<rect x="{place}" y="12" width="14" height="14" fill="{COLOURS[value]}"/>')
        out.append(f'<text x="{place + 20}" y="24">{value}</text>')
        place += 90
    out.append(f'<path d="M{place} 26l22 -14" stroke="#888"/>')
    out.append(f'<text x="{place + 30}" y="24">message in the network</text>')
    floor = TOP + LANE * len(ranks)
    distance = step(end)
    for number in range(int(end / distance * (1 + 1e-9)) + 1):
        x = across(number * distance)
        out.append(f'<path d="M{x} {TOP}V{floor + 5}" stroke="#ddd"/>')
        label = f"{number * distance * 1e6:g}"
        label += " us" if number == 0 else ""
        out.append(f'<text x="{x}" y="{floor + 20}" text-anchor="middle">{label}</text>')
    for alias, name in ranks.items():
        middle = lanes[alias] + LANE / 2
        out.append(f'<text x="{LEFT - 12}" y="{middle + 4}" text-anchor="end">{name}</text>')
        out.append(f'<path d="M{LEFT} {middle}H{WIDTH - RIGHT}" stroke="#ccc"/>')
    for source, start, destination, stop in messages:
        ends = [lanes[alias] + LANE / 2 for alias in (source, destination)]
        down = 1 if ends[1] > ends[0] else -1
        ends = [ends[0] + down * BOX / 2, ends[1] - down * BOX / 2]
        line = f"M{across(start)} {ends[0]}L{across(stop)} {ends[1]}"
        out.append(f'<path d="{line}" stroke="#888" stroke-width="1.1"/>')
    for alias, start, stop, value in busy:
        y = lanes[alias] + (LANE - BOX) / 2
        width = f"{(stop - start) * scale - 0.6:.1f}"
        box = f'x="{across(start)}" y="{y}" width="{width}" height="{BOX}"'
        out.append(f'<rect {box} fill="{COLOURS[value]}"/>')
    return "\n".join([*out, "</svg>"])


print(draw(*read(sys.argv[1])))
