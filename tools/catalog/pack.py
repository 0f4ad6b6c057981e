"""pack.py: packs the rows of data/events into the catalog image: a header of (offset, count) pairs, then arrays of fixed-size
rows and one pool of strings, without relocations. src/events/catalog/format.h is the same layout in C++ and explains the rows.
"""
import struct

import cpu_rules
import layout

HEADER = ["strings", "pmus", "cpu_rules", "tables", "events", "masks", "rules", "modifiers", "event_slots", "pmu_slots",
          "pmu_of_id", "id_names", "mask_hashes"]
PMU = struct.Struct("<IIIIIIIIHHHHBBBBBBBBBBBB")
CPU_RULE = struct.Struct("<IHHHBBBBH")
TABLE = struct.Struct("<IIIII")
EVENT = struct.Struct("<QQIIIIIIIHHBBBBI")
MASK = struct.Struct("<QIIHBBI")
RULE = struct.Struct("<QQQIIIHBBBBHI")
MODIFIER = struct.Struct("<IIBBBBI")
NO_GROUP = 255


def words_of(letters):
    """Words of eight letters; the last one overlaps the one before. Names of less than eight letters give one word."""
    size = len(letters)
    if size >= 8:
        whole = [letters[at:at + 8] for at in range(0, size - 7, 8)]
        return whole + ([letters[-8:]] if size % 8 else [])
    if size >= 4:
        return [letters[:4] + letters[-4:]]
    return [bytes([letters[0], letters[size // 2], letters[-1]])] if size else []


def hashed(name):
    """name_hash() of src/events/catalog/text.h: 32 bits, without regard to case. Both must be the same function."""
    letters = name.encode()
    value = len(letters)
    for word in words_of(letters):
        word = int.from_bytes(word, "little") & 0xdfdfdfdfdfdfdfdf
        product = (value ^ word) * 0x9e3779b97f4a7c15
        value = (product ^ product >> 64) & 0xffffffffffffffff
    return value & 0xffffffff


def mask_hashed(name):
    """mask_hash() of src/events/catalog/text.h: one byte, without regard to case. Both must be the same function."""
    letters, length = name.upper().encode(), len(name)
    return (length * 7 + letters[0] + letters[length // 2] * 3 + letters[length - 1] * 5 + letters[length * 3 // 4] * 11 +
            letters[length // 4] * 23) & 0xff


class Strings:
    """The string pool. Equal strings are stored once; offset 0 is the empty string."""

    def __init__(self):
        self.bytes = bytearray(b"\0")
        self.offsets = {"": 0}

    def add(self, text):
        if text not in self.offsets:
            self.offsets[text] = len(self.bytes)
            self.bytes += text.encode() + b"\0"
        return self.offsets[text]


def slots_of(names):
    """A hash table: open addressing with linear probing, at most half full. A slot is index + 1, 0 is free.

    A search meets equal names in index order."""
    size = 4
    while size < 2 * len(names):
        size *= 2
    slots = [0] * size
    for index, name in enumerate(names):
        at = hashed(name) & (size - 1)
        while slots[at]:
            at = (at + 1) & (size - 1)
        slots[at] = index + 1
    return slots


class Image:
    """Builds the image: add_* append rows to the arrays, bytes() puts the arrays together."""

    def __init__(self, facts):
        self.facts = facts
        self.strings = Strings()
        self.parts = {name: bytearray() for name in HEADER}
        self.counts = dict.fromkeys(HEADER, 0)
        self.rules = {}
        self.table_numbers = {name: number for number, name in enumerate(facts.tables)}
        self.pmu_ids = {pmu.name: pmu.id for pmu in facts.pmus}

    def row(self, part, packed):
        """Appends a packed row to an array."""
        self.parts[part] += packed
        self.counts[part] += 1

    def modifier_bits(self, keys, modset):
        """The bit set of modifiers, by their indexes in the set."""
        known = {item.key: item.index for item in self.facts.modifiers if item.modset == modset}
        return sum(1 << known[key] for key in keys)

    def rule_number(self, extra, modset):
        """The index of the RuleRow for rare properties (limits to models, filters, requirements). Equal rows are shared.

        Row 0 has no property."""
        packed = RULE.pack(
            int(extra.get("filt0", "0"), 0), int(extra.get("filt1", "0"), 0), int(extra.get("cnt", "0"), 0),
            self.strings.add(extra.get("equiv", "")),
            self.modifier_bits(extra["req"].split(",") if "req" in extra else [], modset),
            self.modifier_bits(extra["hw"].split(",") if "hw" in extra else [], modset),
            self.pmu_ids[extra["model"]] if "model" in extra else 0, int(extra.get("from", "0")), int(extra.get("till", "0")),
            int(extra.get("reqgrp", str(NO_GROUP))), 0, 0, 0)
        if packed not in self.rules:
            self.rules[packed] = len(self.rules)
            self.row("rules", packed)
        return self.rules[packed]

    def add_mask(self, mask, modset):
        """Adds a unit mask and its one-byte hash."""
        limited = ["limited"] if {"model", "from", "till"} & set(mask.extra) else []
        self.row("masks", MASK.pack(mask.code, self.strings.add(mask.name), layout.bits(mask.flags + limited, layout.MASK_FLAGS),
                                    self.rule_number(mask.extra, modset), mask.group, 0, len(mask.name)))
        self.row("mask_hashes", bytes([mask_hashed(mask.name)]))

    def event_detail(self, event):
        """EventRow::detail, whose meaning depends on the encoder: perf type, s390x counter set, P4 selectors, CPUID bit."""
        if "escr_select" in event.extra:
            selects = int(event.extra["event_select"], 0) | int(event.extra["escr_select"], 0) << 8
            return selects | int(event.extra["perf_code"], 0) << 16
        if "cpuid_a_ebx_bit" in event.extra:
            return int(event.extra["cpuid_a_ebx_bit"])
        return int(event.extra["ctrset"]) if "ctrset" in event.extra else layout.PERF_TYPES[event.extra.get("type", "raw")]

    @staticmethod
    def groups_with(event, flag):
        """Bit i is set if a mask of group i has the flag; 0xff if there are too many groups for a bit set."""
        if any(mask.group > 6 for mask in event.masks):
            return 0xff
        return sum(1 << group for group in {mask.group for mask in event.masks if flag in mask.flags})

    def add_event(self, event, modset):
        limited = {"model", "from", "till"}
        flags = event.flags + (["limited"] if limited & set(event.extra) else []) + (["optional"] if event.optional else [])
        flags += ["mask_pebs"] if any("pebs" in mask.flags for mask in event.masks) else []
        flags += ["limited_masks"] if any(limited & set(mask.extra) for mask in event.masks) else []
        groups = int(event.extra.get("ngrp", max((mask.group + 1 for mask in event.masks), default=0)))
        self.row("events", EVENT.pack(
            event.code, int(event.extra.get("cnt", "0"), 0), self.strings.add(event.name),
            self.strings.add(event.extra.get("equiv", "")), self.modifier_bits(event.modifiers, modset),
            layout.bits(flags, layout.EVENT_FLAGS), self.counts["masks"], self.event_detail(event),
            self.strings.add(event.extra.get("sysfs", "")), len(event.masks), self.rule_number(
                {key: value for key, value in event.extra.items() if key in ("req", "model", "from", "till")}, modset),
            groups, self.groups_with(event, "dfl"), self.groups_with(event, "grp_dfl_none"), 0, len(event.name)))
        for mask in event.masks:
            self.add_mask(mask, modset)

    def add_table(self, table, modset):
        """Adds a table, its hash table and its events."""
        slots = slots_of([event.name for event in table.events])
        self.row("tables", TABLE.pack(self.strings.add(table.name), self.counts["events"], len(table.events),
                                      self.counts["event_slots"], len(slots)))
        self.parts["event_slots"] += struct.pack(f"<{len(slots)}H", *slots)
        self.counts["event_slots"] += len(slots)
        for event in table.events:
            self.add_event(event, modset)

    def add_tables(self):
        """Adds all tables, after row 0 of the rules."""
        modsets = {pmu.table: pmu.modset for pmu in self.facts.pmus}
        self.rule_number({}, "none")
        for name, table in self.facts.tables.items():
            self.add_table(table, modsets.get(name, "none"))

    def add_cpu_rules(self, pmu):
        """Adds the rules of the cpu column; returns how many they are."""
        found = cpu_rules.parse(pmu.cpu)
        for kind, family, first, last, low, high, table, text in found:
            number = self.table_numbers[table] + 1 if table else 0
            self.row("cpu_rules", CPU_RULE.pack(self.strings.add(text), family, first, last, low, high,
                                                layout.CPU_KINDS.index(kind), 0, number))
        return len(found)

    def visible(self, event, pmu):
        """Whether this model has the event; model_has() in src/events/catalog/encoding/attributes.cpp is the same rule."""
        extra = event.extra
        return (extra.get("model", pmu.name) == pmu.name and int(extra.get("from", "0")) <= pmu.rev
                and (pmu.rev <= int(extra["till"]) if "till" in extra else True))

    def add_pmu(self, pmu):
        host = pmu.rows == "host" or any(event.optional for event in self.facts.tables.get(pmu.table, _NO_TABLE).events)
        table = self.facts.tables.get(pmu.table, _NO_TABLE)
        mine = [event for event in table.events if not event.optional]
        mine = mine if pmu.rows == "host" else mine[:int(pmu.rows)]
        own = sum(self.visible(event, pmu) for event in mine) if "counts_own_events" in pmu.flags else len(mine)
        first_rule = self.counts["cpu_rules"]
        rules = self.add_cpu_rules(pmu)
        arch = "any" if pmu.vendor == "linux" else pmu.arch_order.partition("=")[0]
        self.row("pmus", PMU.pack(
            self.strings.add(pmu.name), self.strings.add(pmu.enum), self.strings.add(pmu.vendor),
            self.strings.add("\0".join([*pmu.perf_names, ""]) if pmu.perf_names else ""),
            layout.bits(pmu.flags + (["host_events"] if host else []), layout.PMU_FLAGS), pmu.num_fixed, len(mine), own, pmu.id,
            self.table_numbers.get(pmu.table, 0xffff), first_rule, rules, layout.TYPES.index(pmu.type),
            layout.ENCODERS.index(pmu.encoder), layout.PERF_ENCODERS.index(pmu.perf_encoder),
            layout.PERF_ATTRS.index(pmu.perf_attrs), layout.MODSETS.index(pmu.modset), sum(layout.PLM[level] for level in pmu.plm),
            pmu.rev, pmu.num_cntrs, pmu.max_encoding, layout.ARCHES.index(arch), 0 if pmu.since == "4.13" else 1,
            len(pmu.name)))

    def add_pmus(self):
        """Adds the PMUs, their hash table, and the table from pfm_pmu_t to PMU."""
        for pmu in self.facts.pmus:
            self.add_pmu(pmu)
        slots = slots_of([pmu.name for pmu in self.facts.pmus])
        self.parts["pmu_slots"] += struct.pack(f"<{len(slots)}H", *slots)
        self.counts["pmu_slots"] = len(slots)
        by_id = [0] * (max(self.facts.ids) + 1)
        for index, pmu in enumerate(self.facts.pmus):
            by_id[pmu.id] = index + 1
        self.parts["pmu_of_id"] += struct.pack(f"<{len(by_id)}H", *by_id)
        self.counts["pmu_of_id"] = len(by_id)

    def add_modifiers(self):
        for item in self.facts.modifiers:
            setting = f":{item.name}="
            assert len(setting) <= 16, "catalog/encoding/canonical.cpp copies the name of a setting in one step"
            self.row("modifiers", MODIFIER.pack(self.strings.add(item.name), self.strings.add(item.key),
                                                layout.MODSETS.index(item.modset), item.index, item.kind == "int",
                                                len(setting), self.strings.add(setting)))

    def add_id_names(self):
        for number in range(max(self.facts.ids) + 1):
            self.row("id_names", struct.pack("<I", self.strings.add(self.facts.ids.get(number, ""))))

    def bytes(self):
        self.add_tables()
        self.add_pmus()
        self.add_modifiers()
        self.add_id_names()
        self.parts["strings"] = self.strings.bytes
        self.counts["strings"] = len(self.strings.bytes)
        offset = 8 + 8 * len(HEADER)
        header, body = b"anyperf1", bytearray()
        for name in HEADER:
            body += b"\0" * (-len(body) % 8)
            header += struct.pack("<II", offset + len(body), self.counts[name])
            body += self.parts[name]
        return bytes(header) + bytes(body) + b"\0" * 16  # find_mask() reads 16 bytes at a time


class _NoTable:
    events = ()


_NO_TABLE = _NoTable()
