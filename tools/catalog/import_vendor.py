#!/usr/bin/env python3
"""import_vendor.py: makes data/vendor from the event lists of perf (tools/perf/pmu-events/arch of Linux).

import_vendor.py LINUX/tools/perf/pmu-events/arch/x86 data/vendor

It takes the facts: which CPU has which list, names of events with their codes, names, groups and formulas of metrics. It takes no
descriptions. data/vendor/README.md describes the result.
"""
import json
import sys
from collections import defaultdict
from pathlib import Path

OFFCORE, LATENCY, FRONTEND = (0x1a6, 0x1a7), 0x3f6, 0x3f7
# perf counts these names by the kernel's generic codes instead of those of the list (real_event() in jevents.py).
FIXED = {"inst_retired.any": 0xc0, "inst_retired.any_p": 0xc0, "cpu_clk_unhalted.ref": 0x300, "cpu_clk_unhalted.thread": 0x3c,
         "cpu_clk_unhalted.core": 0x3c, "cpu_clk_unhalted.thread_any": 0x20003c}
CORES = {None: "-", "cpu_core": "cpu_core", "cpu_atom": "cpu_atom"}


def number(row, key):
    """The first number of a field that may be a list; 0 if the field is missing."""
    return int(str(row.get(key) or "0").split(",")[0], 0)


def config(row, amd):
    """The event select register in the layout of the kernel's format/ folder: event, umask, edge, any, inv, cmask."""
    code = number(row, "EventCode") | number(row, "ExtSel") << 8
    umask = number(row, "UMask")
    value = (code & 0xff) | (umask & 0xff) << 8
    if amd:
        value |= (code >> 8 & 0xf) << 32
    else:
        value |= (umask >> 8 & 0xff) << 40
    return (value | number(row, "EdgeDetect") << 18 | number(row, "AnyThread") << 21 | number(row, "Invert") << 23 |
            number(row, "CounterMask") << 24)


def event(row, amd):
    """(name, PMU, config, config1), or None for an event of an uncore box or of a register that perf has no field for."""
    name = row["EventName"].lower()
    msr = number(row, "MSRIndex")
    if row.get("Unit") not in CORES or msr not in (0, *OFFCORE, LATENCY, FRONTEND) or row.get("Filter"):
        return None
    if name in FIXED:
        return name, CORES[row.get("Unit")], FIXED[name], 0
    return name, CORES[row.get("Unit")], config(row, amd), number(row, "MSRValue") if msr else 0


def metric(row):
    """(name, groups, scale and unit, formula)."""
    return row["MetricName"], row.get("MetricGroup") or "-", row.get("ScaleUnit") or "-", " ".join(row["MetricExpr"].split())


def rows_of(folder):
    for file in sorted(folder.glob("*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        yield from content if isinstance(content, list) else []


def write(path, heading, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in [heading, *rows]), encoding="utf-8")


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    lists = defaultdict(list)
    for line in (source / "mapfile.csv").read_text(encoding="utf-8").splitlines()[1:]:
        cpus, _, name, kind = line.split(",")
        if kind == "core":
            lists[name].append(cpus)
    write(target / "cpus.tsv", ("#cpus", "list"), [(cpus, name) for name, all_cpus in lists.items() for cpus in all_cpus])
    for name in lists:
        rows = list(rows_of(source / name))
        events = {each for row in rows if "EventName" in row and (each := event(row, name.startswith("amd")))}
        write(target / "events" / f"{name}.tsv", ("#name", "pmu", "config", "config1"),
              [(e[0], e[1], f"{e[2]:#x}", f"{e[3]:#x}") for e in sorted(events)])
        metrics = sorted({metric(row) for row in rows if "MetricExpr" in row and "MetricName" in row})
        if metrics:
            write(target / "metrics" / f"{name}.tsv", ("#name", "groups", "unit", "formula"), metrics)


if __name__ == "__main__":
    main()
