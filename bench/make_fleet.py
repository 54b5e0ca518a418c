#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the link tests of a fleet that nobody has: documents of real size, for trying `xferbench
fleet`. Each is a copy of one that was measured, with other names and with bandwidths that differ by
chance. The same arguments make the same bytes.

Verdicts stay those of the pattern, whatever becomes of the bandwidths."""
import argparse
import json
import os
import random
import re
import sys

PATTERN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results/h200-x4/link-pairs.json")
NODE = re.compile("\"@(\\w+):(\\d+)@\"")


def address(gpu):
    return f"0000:{0x0f + 0x10 * gpu:02x}:00.0"


def device_of(pattern, gpu):
    """The pattern's device as GPU number `gpu`; what differs from node to node is left as @names@."""
    text = json.dumps(pattern).replace(pattern["pci_bdf"], address(gpu))
    device = json.loads(text)
    device["index"] = gpu
    device["uuid"] = f"@uuid:{gpu}@"
    attempt = device["attempts"][device["verdict"]["attempt"]]
    for way in "h2d", "d2h":
        attempt[way + "_bytes_per_second"] = f"@{way}:{gpu}@"
        device["verdict"][way + "_share"] = f"@{way}share:{gpu}@"
    return device


def pair_of(pattern, number, source, target, count):
    pair = json.loads(json.dumps(pattern))
    pair["from"], pair["to"] = source, target
    pair["attempts"][pair["verdict"]["attempt"]]["bytes_per_second"] = f"@peer:{number}@"
    pair["verdict"]["share"] = f"@peershare:{number}@"
    pair["verdict"]["like_pairs"] = count
    return pair


class Fleet:
    def __init__(self, options):
        with open(options.pattern, encoding="utf-8") as file:
            document = json.load(file)
        devices, pairs = document["devices"], document["pairs"]
        gpus = range(options.gpus)
        ways = [(a, b) for a in gpus for b in gpus if a != b]
        self.chance = random.Random(options.seed)
        self.spread = options.spread / 100
        self.slow = dict(options.slow)
        self.usual = {way: devices[0]["attempts"][0][way + "_bytes_per_second"] for way in ("h2d", "d2h")}
        self.usual["peer"] = pairs[0]["attempts"][0]["bytes_per_second"]
        ceiling = devices[0]["verdict"]["ceiling"]
        self.ceilings = {way: ceiling[way + "_bytes_per_second"] for way in ("h2d", "d2h")}
        self.ceilings["peer"] = pairs[0]["verdict"]["ceiling_bytes_per_second"]
        document["host"]["hostname"] = "@host:0@"
        document["devices"] = [device_of(devices[gpu % len(devices)], gpu) for gpu in gpus]
        document["pairs"] = [pair_of(pairs[i % len(pairs)], i, *way, len(ways)) for i, way in enumerate(ways)]
        pretty = {"indent": "\t", "separators": (",", ":\t")}
        text = json.dumps(document, **({"separators": (",", ":")} if options.stream else pretty))
        self.pieces = NODE.split(text)  # text, name, number, text, ...

    def document(self, name, number):
        factor = 1 - self.slow.get(number, 0) / 100
        rates = {}

        def value(what, index):
            if what == "host":
                return json.dumps(name)
            if what == "uuid":
                return json.dumps(f"GPU-{number:08x}-0000-4000-8000-{index:012x}")
            way = what.removesuffix("share")
            if (way, index) not in rates:
                rates[way, index] = self.usual[way] * factor * (1 + self.chance.gauss(0, self.spread))
            rate = rates[way, index]
            return repr(rate / self.ceilings[way] if what.endswith("share") else rate)

        pieces = list(self.pieces)
        for i in range(1, len(pieces), 3):
            pieces[i], pieces[i + 1] = value(pieces[i], int(pieces[i + 1])), ""
        return "".join(pieces) + "\n"


def slow_node(text):
    node, percent = text.split(":")
    return int(node), float(percent)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="where a file a node goes")
    parser.add_argument("--stream", action="store_true", help="a line a node to standard output instead")
    parser.add_argument("--pattern", default=PATTERN, help="a link test with pairs")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--spread", type=float, default=0.3, metavar="PERCENT", help="one standard deviation")
    parser.add_argument("--slow", type=slow_node, action="append", default=[], metavar="NODE:PERCENT",
                        help="all bandwidths of node number NODE (from 0) are lower by so much")
    parser.add_argument("--missing", type=int, default=0, metavar="N", help="leave out N nodes, by chance")
    parser.add_argument("--broken", type=int, default=0, metavar="N", help="cut the documents of N nodes short")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.stream == (options.folder is not None):
        parser.error("name a folder, or give --stream")
    if options.missing + options.broken > options.nodes:
        parser.error("more nodes are missing and broken than there are")
    return options


def main():
    options = parse()
    fleet = Fleet(options)
    odd = random.Random(options.seed).sample(range(options.nodes), options.missing + options.broken)
    missing, broken = set(odd[: options.missing]), set(odd[options.missing :])
    if options.folder is not None:
        os.makedirs(options.folder, exist_ok=True)
    for number in range(options.nodes):
        name = f"gpu{number:05d}"
        text = fleet.document(name, number)  # also of one that is missing: the others stay as they are
        if number in missing:
            continue
        if number in broken:
            text = text[: len(text) // 2] + "\n"
        if options.stream:
            sys.stdout.write(text)
        else:
            with open(os.path.join(options.folder, name + ".json"), "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    main()
