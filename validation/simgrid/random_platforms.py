#!/usr/bin/env python3
"""Writes platforms of one to three random clusters into a folder, for routes.py.

    validation/simgrid/random_platforms.py FOLDER [COUNT [SEED]]
    validation/simgrid/routes.py FOLDER/*.xml
"""

import math
import pathlib
import random
import sys

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'


def numbers(least, most, count):
    return [random.randint(least, most) for _ in range(count)]


def fat_tree(limited):
    levels = random.randint(1, 4)
    while True:
        children, parents = numbers(1, 5, levels), numbers(1, 3, levels)
        cables = numbers(1, 3, levels)
        hosts = math.prod(children)
        switches = sum(math.prod(parents[:level]) * math.prod(children[level:])
                       for level in range(1, levels + 1))
        # SimGrid gives two limiters the same name where there are more switches than hosts.
        if hosts <= 60 and (switches <= hosts or not limited):
            lists = (",".join(map(str, each)) for each in (children, parents, cables))
            return hosts, f"{levels};" + ";".join(lists)


def torus(_):
    while True:
        sizes = numbers(2, 7, random.randint(1, 4))
        if math.prod(sizes) <= 90:
            return math.prod(sizes), ",".join(map(str, sizes))


def dragonfly(_):
    while True:
        blades, chassis, nodes = numbers(1, 5, 1)[0], numbers(1, 4, 1)[0], numbers(1, 3, 1)[0]
        groups = random.randint(1, blades)
        blue, black, green = numbers(1, 3, 3)
        hosts = groups * chassis * blades * nodes
        if hosts <= 80:
            return hosts, f"{groups},{blue};{chassis},{black};{blades},{green};{nodes}"


def cluster(name):
    """A cluster and the names of its hosts."""
    rest = ""
    limited = random.random() < 0.5
    if limited:
        rest += ' limiter_link="15GBps"'
    if random.random() < 0.4:
        rest += f' loopback_bw="20GBps" loopback_lat="{random.randint(0, 9)}ns"'
    rest += f' sharing_policy="{random.choice(["SPLITDUPLEX", "SPLITDUPLEX", "SHARED"])}"'
    kinds = {"FAT_TREE": fat_tree, "TORUS": torus, "DRAGONFLY": dragonfly}
    kind = random.choice(["FLAT", "FAT_TREE", "FAT_TREE", "TORUS", "DRAGONFLY"])
    if kind == "FLAT":
        hosts = random.randint(1, 9)
        if random.random() < 0.5:
            rest += ' bb_bw="3GBps" bb_lat="2us"'
    else:
        hosts, parameters = kinds[kind](limited)
        rest += f' topology="{kind}" topo_parameters="{parameters}"'
    first = random.randint(0, 20)
    text = (f'    <cluster id="{name}" prefix="{name}-" suffix=""'
            f' radical="{first}-{first + hosts - 1}" speed="1Gf"'
            f' bw="10GBps" lat="{random.randint(1, 900)}ns"{rest}/>\n')
    return text, [f"{name}-{number}" for number in range(first, first + hosts)]


def platform():
    clusters = {name: cluster(name) for name in "abc"[:random.randint(1, 3)]}
    routing = random.choice(["Full", "Floyd"])
    links = routes = ""
    for a in clusters:
        for b in clusters:
            if a < b and (routing == "Full" or ord(b) == ord(a) + 1):
                links += (f'    <link id="{a}{b}" bandwidth="1GBps"'
                          f' latency="{random.randint(1, 99)}us"'
                          ' sharing_policy="SPLITDUPLEX"/>\n')
                doors = [random.choice(clusters[name][1]) for name in (a, b)]
                routes += (f'    <zoneRoute src="{a}" dst="{b}" gw_src="{doors[0]}" '
                           f'gw_dst="{doors[1]}">'
                           f'<link_ctn id="{a}{b}" direction="{random.choice(["UP", "DOWN"])}"/>'
                           '</zoneRoute>\n')
    body = "".join(text for text, _ in clusters.values()) + links + routes
    return (f'{HEAD}<platform version="4.1">\n  <zone id="z" routing="{routing}">\n'
            f'{body}  </zone>\n</platform>\n')


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 60):
    (folder / f"random-{number:03}.xml").write_text(platform())
