#!/usr/bin/env python3
"""import_perfmon.py: converts an event list that Intel publishes (github.com/intel/perfmon) to rows for data/events/cpus/.

import_perfmon.py EVENTS.json --pmu "id<tab>enum<tab>…" > data/events/cpus/NAME.tsv

It takes names, codes, counters and flags, but no descriptions. Events with the same name before the dot become one event with a
unit mask for each of them, as in the other tables. docs/adding-a-cpu.md shows how to use it.
"""
import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path

OFFCORE, LATENCY, FRONTEND = 0x1a6, 0x3f6, 0x3f7
MODIFIERS = {"k": None, "u": None, "e": 18, "i": 23, "c": 24}


def number(event, key):
    """The first number of a field that may be a list; 0 if the field is missing."""
    return int(str(event.get(key) or "0").split(",")[0], 0)


def counters(event):
    """Bit i: programmable counter i; bit 32 + i: fixed counter i."""
    text = str(event.get("Counter", ""))
    fixed = re.match(r"Fixed counter (\d+)", text, re.I)
    if fixed:
        return 1 << (32 + int(fixed.group(1)))
    return sum(1 << int(piece) for piece in text.split(",") if piece.strip().isdigit())


def is_wanted(event):
    """Whether the event is neither deprecated nor needs a register that no encoder knows."""
    msr = number(event, "MSRIndex")
    return event.get("Deprecated") != "1" and msr in (0, OFFCORE, LATENCY, FRONTEND)


def preset(event):
    """(bits of the event select register, names) of the modifiers that the event sets itself."""
    values = {"c": number(event, "CounterMask"), "i": number(event, "Invert"), "e": number(event, "EdgeDetect")}
    bits = sum(value << MODIFIERS[name] for name, value in values.items())
    return bits, [name for name in ("e", "i", "c") if values[name]]


def umask(event):
    """The unit mask at bit 8, as in the register; the extended one at bit 40."""
    return number(event, "UMask") << 8 | number(event, "UMaskExt") << 40


def mask_row(event, base_code):
    """The U row of an event whose name has a part after the dot."""
    name = event["EventName"].partition(".")[2].replace(".", "_")
    flags, extra = ["ncombo"], []
    msr, code = number(event, "MSRIndex"), number(event, "EventCode")
    bits, fixed = preset(event)
    if msr in (OFFCORE, FRONTEND):
        value = number(event, "MSRValue") << 8
    else:
        value = umask(event) | bits
    if event.get("Precise") == "1" or event.get("PEBS") in ("1", "2"):
        flags.append("pebs")
    if code != base_code:
        flags.append("code_override")
        value |= code
    if msr == LATENCY:
        flags.append("ldlat")
        extra.append(f"equiv=LOAD_LATENCY:ldlat={number(event, 'MSRValue')}")
    extra = [f"cnt={counters(event):#x}"] + ([f"hw={','.join(fixed)}"] if fixed and msr == 0 else []) + extra
    return f"U\t0\t{name}\t{value:#x}\t-\t{','.join(flags)}\t{' '.join(extra)}"


def event_rows(index, base, events):
    """The E row of the events with one name before the dot, and their U rows."""
    msr = Counter(number(event, "MSRIndex") for event in events).most_common(1)[0][0]
    code = Counter(number(event, "EventCode") for event in events).most_common(1)[0][0]
    latencies = [event for event in events if number(event, "MSRIndex") == LATENCY]
    modifiers = list(MODIFIERS) + (["ldlat"] if latencies else [])
    flags = {OFFCORE: ["extra_reg"], FRONTEND: ["frontend"]}.get(msr, [])
    if any(event.get("Precise") == "1" for event in events):
        flags = ["pebs"] + flags
    named = [event for event in events if "." in event["EventName"]]
    own = umask(events[0]) if msr in (OFFCORE, FRONTEND) or not named else 0
    bits = preset(events[0])[0] if not named else 0
    extra = f"cnt={max(counters(event) for event in events):#x}" + (" ngrp=1" if named else "")
    yield f"E\t{index}\t{base}\t{code | own | bits:#x}\t{','.join(modifiers)}\t{','.join(flags) or '-'}\t{extra}"
    if latencies:
        default = ",dfl" if len(latencies) == len(events) else ""
        yield f"U\t0\tLOAD_LATENCY\t{umask(latencies[0]):#x}\t-\tncombo,pebs{default},ldlat\t-"
    seen = {"LOAD_LATENCY"} if latencies else set()
    for event in sorted(named, key=lambda each: each["EventName"]):
        row = mask_row(event, code)
        if row.split("\t")[2] not in seen:
            seen.add(row.split("\t")[2])
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("events", type=Path, help="EVENTS.json")
    parser.add_argument("--pmu", action="append", default=[], help="a P row without its P, as in data/events/README.md")
    options = parser.parse_args()
    listed = json.loads(options.events.read_text())
    events = [event for event in (listed["Events"] if isinstance(listed, dict) else listed) if is_wanted(event)]
    by_base = {}
    for event in events:
        by_base.setdefault(event["EventName"].partition(".")[0], []).append(event)
    print("#kind\tindex_or_group\tname\tcode\tmodifiers\tflags\textra")
    for pmu in options.pmu:
        print("P\t" + pmu)
    for index, base in enumerate(sorted(by_base)):
        print("\n".join(event_rows(index, base, by_base[base])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
