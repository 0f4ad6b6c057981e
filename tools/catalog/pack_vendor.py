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
HEADER = struct.Struct("<8s20I")
BLOCK = 16  # strings of a sorted table that share one offset; PackedStrings::kBlock


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


class SortedStrings:
    """Sorted strings. Of each but the first of a block only what differs from the string before is kept."""

    def __init__(self, texts):
        self.texts = sorted(set(texts))
        self.ids = {text: i for i, text in enumerate(self.texts)}
        if len(self.texts) > 0xffff:
            raise SystemExit(f"{len(self.texts)} strings do not fit into 16 bits: widen EventRow in vendor_lists.h")

    def pack(self):
        """Offset of each block from the end of the offsets, then the blocks."""
        offsets, blocks, before = [], bytearray(), ""
        for i, text in enumerate(self.texts):
            if i % BLOCK == 0:
                offsets.append(len(blocks))
            else:
                shared = min(shared_letters(before, text), 255)
                blocks.append(shared)
                text, before = text[shared:], text
            if i % BLOCK == 0:
                before = text
            blocks += text.encode("ascii") + b"\0"
        return struct.pack(f"<{len(offsets)}I", *offsets) + bytes(blocks)


def shared_letters(left, right):
    count = 0
    while count < min(len(left), len(right)) and left[count] == right[count]:
        count += 1
    return count


def rows(path):
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def posix(pattern):
    return re.compile(pattern.replace("[[:xdigit:]]", "[0-9a-fA-F]"))


def cpu_rules(cpus):
    """(vendor, family, model, steppings, list): what the patterns of x86 match, in the order of the file; the first match counts.
    Steppings is a set of bits."""
    found, seen = [], {}
    for pattern, name in cpus:
        compiled, vendor = posix(pattern), pattern.split("-")[0]
        for family in FAMILIES[vendor]:
            for model in range(0x100):
                cpu = f"{vendor}-{family}-{model:X}"
                if compiled.fullmatch(cpu):
                    steppings = 0xffff
                else:
                    steppings = sum(1 << step for step in range(16) if compiled.fullmatch(f"{cpu}-{step:X}"))
                steppings &= ~seen.get((vendor, family, model), 0)
                if steppings:
                    seen[(vendor, family, model)] = seen.get((vendor, family, model), 0) | steppings
                    found.append((VENDORS[vendor], family, model, steppings, name))
    return found


def list_names(data, cpus):
    """The lists of CPUs in the order of mapfile.csv, then those of PMUs."""
    folder = data / "events"
    systems = sorted(str(file.relative_to(folder).with_suffix("")) for file in folder.rglob("sys.tsv"))
    return [*dict.fromkeys(name for _, _, name in cpus), *systems]


def kind(extras):
    """(scale and unit, identifiers, whether one count is for a package) of the last column."""
    given = dict(part.partition("=")[::2] for part in extras.split(";"))
    return given.get("scale", "-"), given.get("compat", "-"), int("per-pkg" in given)


class Packer:
    def __init__(self, data):
        self.data, self.strings = data, Strings()
        self.cpus = rows(data / "cpus.tsv")
        self.names = list_names(data, self.cpus)
        self.formats = [(re.compile(lists), re.compile(pmus), fields) for lists, pmus, fields in rows(data / "formats.tsv")]
        self.read = {name: sorted(map(tuple, rows(data / "events" / f"{name}.tsv"))) for name in self.names}
        every = [row for own in self.read.values() for row in own]
        self.event_names = SortedStrings(row[0] for row in every)
        self.terms = SortedStrings(row[2] for row in every)
        self.kinds = list(dict.fromkeys(kind(row[3]) for row in every))
        self.lists, self.boxes, self.events, self.metrics = b"", [], b"", []

    def format_of(self, name, pmu):
        """The fields that the list's terms of that PMU are put in; empty: not known."""
        return next((fields for lists, pmus, fields in self.formats if lists.fullmatch(name) and pmus.fullmatch(pmu)), "")

    def add_list(self, name):
        own = self.read[name]
        boxes = sorted({row[1] for row in own})
        metrics = sorted(rows(self.data / "metrics" / f"{name}.tsv"), key=lambda row: row[0].lower())
        self.lists += struct.pack("<8I", self.strings.add(name), len(self.events) // 6, len(own), len(self.metrics), len(metrics),
                                  len(self.boxes), len(boxes), int(name.endswith("/sys")))
        self.boxes += [(pmu, self.format_of(name, pmu)) for pmu in boxes]
        self.events += b"".join(struct.pack("<HHBB", self.event_names.ids[event], self.terms.ids[terms], boxes.index(pmu),
                                            self.kinds.index(kind(extras))) for event, pmu, terms, extras in own)
        self.metrics += metrics

    def pack(self):
        for name in self.names:
            self.add_list(name)
        add = self.strings.add
        x86 = [(pattern, name) for architecture, pattern, name in self.cpus if architecture == "x86"]
        others = [(pattern, name) for architecture, pattern, name in self.cpus if architecture != "x86"]
        parts = [(8, b"".join(struct.pack("<BBHHH", vendor, family, model, steppings, self.names.index(name))
                              for vendor, family, model, steppings, name in cpu_rules(x86))),
                 (8, b"".join(struct.pack("<II", add(pattern), self.names.index(name)) for pattern, name in others)),
                 (32, self.lists),
                 (8, b"".join(struct.pack("<II", add(pmu), add(fields)) for pmu, fields in self.boxes)),
                 (12, b"".join(struct.pack("<III", add(scale), add(compat), per_package) for scale, compat, per_package in self.kinds)),
                 (6, self.events),
                 (16, b"".join(struct.pack("<4I", *map(add, row)) for row in self.metrics)),
                 (len(self.event_names.texts), self.event_names.pack()),
                 (len(self.terms.texts), self.terms.pack())]
        parts.append((1, bytes(self.strings.bytes)))
        return image_of(parts)


def image_of(parts):
    """The header and the parts: (size of a row, bytes), except for sorted strings: (number of strings, bytes)."""
    image, places = b"", []
    for index, (size, part) in enumerate(parts):
        image += b"\0" * (-len(image) % 8)
        sorted_strings = index in (7, 8)
        places += [HEADER.size + len(image), size if sorted_strings else len(part) // size]
        image += part
    return HEADER.pack(b"anyperfv", *places) + image


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.output.write_bytes(Packer(options.data).pack())


if __name__ == "__main__":
    main()
