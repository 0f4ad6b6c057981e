#!/usr/bin/env python3
"""import_vendor.py: makes data/vendor from the event lists of perf (tools/perf/pmu-events/arch of Linux).

import_vendor.py LINUX/tools/perf/pmu-events/arch data/vendor [ARCHITECTURE…]

It takes the facts: which CPU has which list, names of events with their PMUs and codes, names, groups and formulas of metrics. It takes no
descriptions. data/vendor/README.md describes the result. formats.tsv is not imported: it has facts of the kernel's drivers.
"""
import json
import shutil
import sys
from collections import defaultdict
from pathlib import Path

ARCHITECTURES = ("x86", "arm64", "powerpc", "s390", "riscv")
OFFCORE, LATENCY, FRONTEND = (0x1a6, 0x1a7), 0x3f6, 0x3f7
# Terms for registers that a code needs besides the event select register.
REGISTERS = {0x1a6: "offcore_rsp", 0x1a7: "offcore_rsp", LATENCY: "ldlat", FRONTEND: "frontend"}
# perf counts these names by the kernel's generic codes instead of those of the list (real_event() in jevents.py).
FIXED = {"inst_retired.any": 0xc0, "inst_retired.any_p": 0xc0, "cpu_clk_unhalted.ref": 0x300, "cpu_clk_unhalted.thread": 0x3c,
         "cpu_clk_unhalted.core": 0x3c, "cpu_clk_unhalted.thread_any": 0x20003c}
# Field of the JSON, and the term that perf makes of it.
TERMS = (("AnyThread", "any"), ("PortMask", "ch_mask"), ("CounterMask", "cmask"), ("EdgeDetect", "edge"), ("FCMask", "fc_mask"),
         ("Invert", "inv"), ("UMask", "umask"), ("NodeType", "type"), ("RdWrMask", "rdwrmask"), ("EnAllCores", "enallcores"),
         ("EnAllSlices", "enallslices"), ("SliceId", "sliceid"), ("ThreadMask", "threadmask"))
# Units whose PMU is not uncore_ and the unit in lower case. Those of the second line are the PMU's own name.
PMUS = {"CBO": "uncore_cbox", "QPI LL": "uncore_qpi", "SBO": "uncore_sbox", "iMPH-U": "uncore_arb", "UPI LL": "uncore_upi",
        "CPU-M-CF": "cpum_cf", "CPU-M-SF": "cpum_sf", "PAI-CRYPTO": "pai_crypto", "PAI-EXT": "pai_ext", "L3PMC": "amd_l3",
        "DFPMC": "amd_df", "UMCPMC": "amd_umc"}
OWN_NAMES = ("cpu_core", "cpu_atom", "hisi_sicl,cpa", "hisi_sccl,ddrc", "hisi_sccl,hha", "hisi_sccl,l3c", "imx8_ddr", "imx9_ddr",
             "ali_drw", "arm_cmn", "software", "tool")


def number(row, key):
    """The first number of a field that may be a list; 0 if the field is missing."""
    return int(str(row.get(key) or "0").split(",")[0], 0)


def pmu(row):
    """The PMU whose event it is; - is every core."""
    unit = row.get("Unit")
    if not unit or unit in OWN_NAMES:
        return unit or "-"
    return PMUS.get(unit, f"uncore_{unit.lower()}")


def x86_config(row, amd):
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


def x86_core_terms(row, amd):
    """config and config1 of a core of x86; None for a register that perf has no field for, or without the value that it needs."""
    msr = number(row, "MSRIndex")
    if msr and (msr not in REGISTERS or "MSRValue" not in row) or row.get("Filter"):
        return None
    name = row["EventName"].lower()
    if name in FIXED:
        return f"config={FIXED[name]:#x}"
    config1 = number(row, "MSRValue") if msr else 0
    return f"config={x86_config(row, amd):#x}" + (f",config1={config1:#x}" if config1 else "")


def terms(row):
    """The terms that perf gives to the PMU."""
    if "ConfigCode" in row:
        parts = [f"config={number(row, 'ConfigCode'):#x}"]
    elif "EventidCode" in row:
        parts = [f"eventid={number(row, 'EventidCode'):#x}"]
    else:
        parts = [f"event={number(row, 'EventCode') | number(row, 'ExtSel') << 8:#x}"]
    parts += [f"{term}={number(row, key):#x}" for key, term in TERMS if number(row, key)]
    if row.get("Filter"):
        parts.append(row["Filter"])
    if number(row, "MSRIndex"):
        parts.append(f"{REGISTERS[number(row, 'MSRIndex')]}={number(row, 'MSRValue'):#x}")
    return ",".join(parts)


def extras(row):
    """What else the event has: a scale with its unit, one count for a package, the identifiers of PMUs that have it."""
    found = [f"scale={row['ScaleUnit']}"] if row.get("ScaleUnit") else []
    found += ["per-pkg"] if row.get("PerPkg", "0") != "0" else []
    found += [f"compat={row['Compat']}"] if row.get("Compat") else []
    return ";".join(found) or "-"


def event(row, standard, name, architecture):
    """(name, PMU, terms, extras), or None. An event of the architecture's standard has the standard's code."""
    std = standard.get(row.get("ArchStdEvent", "").lower(), {})
    whole = {**std, **row}
    if "EventName" not in whole:
        return None
    own_pmu = pmu(row)
    if architecture == "x86" and own_pmu in ("-", "cpu_core", "cpu_atom"):
        code = x86_core_terms(whole, name.startswith("amd"))
    else:
        code = terms(std or row)
    return code and (whole["EventName"].lower(), own_pmu, code, extras(whole))


def metric(row, standard):
    """(name, groups, scale and unit, formula), or None."""
    whole = {**standard.get(row.get("ArchStdEvent", "").lower(), {}), **row}
    if "MetricName" not in whole or "MetricExpr" not in whole:
        return None
    return (whole["MetricName"], whole.get("MetricGroup") or "-", whole.get("ScaleUnit") or "-",
            " ".join(whole["MetricExpr"].split()))


def rows_of(folder):
    for file in sorted(folder.glob("*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        yield from content if isinstance(content, list) else []


def write(path, heading, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in [heading, *rows]), encoding="utf-8")


def cpus_of(source, architecture):
    """(architecture, pattern, list) of each line of mapfile.csv."""
    found = []
    for line in (source / architecture / "mapfile.csv").read_text(encoding="utf-8").splitlines():
        fields = line.split(",")
        if len(fields) == 4 and not line.startswith(("#", "Family-model")) and fields[3] == "core":
            found.append((architecture, fields[0], fields[2]))
    return found


def lists_of(source, architecture, cpus):
    """The lists of CPUs, and the folders called sys, which have events of PMUs by the PMU's identifier."""
    names = list(dict.fromkeys(name for _, _, name in cpus))
    systems = [str(folder.relative_to(source / architecture)) for folder in sorted((source / architecture).rglob("sys"))]
    return names + systems


def import_list(source, target, architecture, name, standard):
    rows = list(rows_of(source / architecture / name))
    events = {each for row in rows if (each := event(row, standard, name, architecture))}
    write(target / "events" / f"{name}.tsv", ("#name", "pmu", "terms", "extras"), sorted(events))
    metrics = sorted({each for row in rows if (each := metric(row, standard))})
    if metrics:
        write(target / "metrics" / f"{name}.tsv", ("#name", "groups", "unit", "formula"), metrics)


def standard_events(folder):
    """The events and metrics that lists of the architecture refer to by name."""
    return {row[key].lower(): row for row in rows_of(folder) for key in ("EventName", "MetricName") if key in row}


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    for folder in ("events", "metrics"):
        shutil.rmtree(target / folder, ignore_errors=True)
    cpus = defaultdict(list)
    for architecture in sys.argv[3:] or ARCHITECTURES:
        cpus[architecture] = cpus_of(source, architecture)
        standard = standard_events(source / architecture)
        for name in lists_of(source, architecture, cpus[architecture]):
            import_list(source, target, architecture, name, standard)
    write(target / "cpus.tsv", ("#architecture", "cpus", "list"), [row for rows in cpus.values() for row in rows])


if __name__ == "__main__":
    main()
