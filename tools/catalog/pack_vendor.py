#!/usr/bin/env python3
"""pack_vendor.py: packs data/vendor into the image that src/events/vendor reads. vendor_image.h describes the layout.

pack_vendor.py --data data/vendor --output IMAGE
"""
import argparse
import re
import struct
from pathlib import Path

VENDORS = {"GenuineIntel": 0, "AuthenticAMD": 1}
FAMILIES = {"GenuineIntel": (6,), "AuthenticAMD": (23, 25, 26)}
HEADER = struct.Struct("<8s10I")


class Strings:
    """A pool of NUL-terminated strings, each once; 0 is the empty string."""

    def __init__(self):
        self.bytes, self.offsets = bytearray(b"\0"), {"": 0}

    def add(self, text):
        if text == "-":
            return 0
        if text not in self.offsets:
            self.offsets[text] = len(self.bytes)
            self.bytes += text.encode() + b"\0"
        return self.offsets[text]


def rows(path):
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def posix(pattern):
    return re.compile(pattern.replace("[[:xdigit:]]", "[0-9a-fA-F]"))


def cpu_rules(cpus):
    """(vendor, family, model, steppings, list): what the patterns match, in the order of the file; the first match counts. Steppings is
    a set of bits."""
    found, seen = [], set()
    for pattern, name in cpus:
        compiled, vendor = posix(pattern), pattern.split("-")[0]
        for family in FAMILIES[vendor]:
            for model in range(0x100):
                cpu = f"{vendor}-{family}-{model:X}"
                if compiled.fullmatch(cpu):
                    steppings = 0xffff
                else:
                    steppings = sum(1 << step for step in range(16) if compiled.fullmatch(f"{cpu}-{step:X}"))
                if steppings and (vendor, family, model, steppings) not in seen:
                    seen.add((vendor, family, model, steppings))
                    found.append((VENDORS[vendor], family, model, steppings, name))
    return found


def pack(data):
    strings = Strings()
    cpus = rows(data / "cpus.tsv")
    names = list(dict.fromkeys(name for _, name in cpus))
    lists, events, metrics = b"", [], []
    for name in names:
        own = sorted(rows(data / "events" / f"{name}.tsv"))
        measures = sorted(rows(data / "metrics" / f"{name}.tsv"), key=lambda row: row[0].lower())
        lists += struct.pack("<5I", strings.add(name), len(events), len(own), len(metrics), len(measures))
        events += own
        metrics += measures
    parts = [b"".join(struct.pack("<BBHHH", vendor, family, model, steppings, names.index(name))
                      for vendor, family, model, steppings, name in cpu_rules(cpus)),
             lists,
             b"".join(struct.pack("<QQII", int(config, 0), int(config1, 0), strings.add(name), strings.add(pmu))
                      for name, pmu, config, config1 in events),
             b"".join(struct.pack("<4I", *map(strings.add, row)) for row in metrics)]
    sizes = (8, 20, 24, 16)
    parts.append(bytes(strings.bytes))
    image, places = b"", []
    for part, size in zip(parts, (*sizes, 1)):
        image += b"\0" * (-len(image) % 8)
        places += [HEADER.size + len(image), len(part) // size]
        image += part
    return HEADER.pack(b"anyperfv", *places) + image


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.output.write_bytes(pack(options.data))


if __name__ == "__main__":
    main()
