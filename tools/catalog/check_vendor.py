#!/usr/bin/env python3
"""check_vendor.py: compares each name of perf's lists with what anyperf makes of it.

check_vendor.py LINUX/tools/perf/pmu-events build/bin/anyperf [LIST…]

The kernel's own jevents.py, run from that checkout, says which names perf has, of which PMU, and with which terms. `anyperf encode --cpu LIST`
must give the same PMU, the same scale, and the code that the terms make. Where terms go is the kernel's business: a PMU's format/ folder, as
data/vendor/formats.tsv has it; cores of x86 have the fields of kCoreFields below. A name is refused by both if it is only of PMUs that have no
such field. Formulas of metrics are compared after the kernel's metric.py has simplified both.

The exit status is 0 if nothing differs.
"""
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ARCHITECTURES = ("x86", "arm64", "powerpc", "s390", "riscv")
INTEL = ("event=config:0-7 umask=config:8-15,40-47 edge=config:18 any=config:21 inv=config:23 cmask=config:24-31 "
         "offcore_rsp=config1:0-63 ldlat=config1:0-15 frontend=config1:0-23")
AMD = "event=config:0-7,32-35 umask=config:8-15 edge=config:18 inv=config:23 cmask=config:24-31"
WORDS = ("config", "config1", "config2", "config3", "config4")
BATCH = 400  # names of one call of anyperf
MOST_SHOWN = 20


def load(folder):
    """The kernel's script as a module; importing it does not run it."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    import jevents
    import metric
    return jevents, metric


class Formats:
    """Where the terms of a list's PMU go."""

    def __init__(self, file):
        lines = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        self.rows = [(re.compile(lists), re.compile(pmus), fields) for lists, pmus, fields in lines]

    def of(self, architecture, name, pmu):
        if architecture == "x86" and pmu in ("default_core", "cpu_core", "cpu_atom"):
            return AMD if name.startswith("amd") else INTEL
        pmu = "-" if pmu == "default_core" else pmu
        return next((fields for lists, pmus, fields in self.rows if lists.fullmatch(name) and pmus.fullmatch(pmu)), "")


def spread(value, bits):
    """The value in the bits "0-7,32-35" of a word; None if it does not fit."""
    result = 0
    for piece in bits.split(","):
        first, _, last = piece.partition("-")
        width = int(last or first) - int(first) + 1
        result |= (value & ((1 << width) - 1)) << int(first)
        value >>= width
    return None if value else result


def code(terms, fields):
    """{word: value} of the attr, or None if a term has no field or does not fit into it."""
    known = dict(field.split("=", 1) for field in fields.split())
    words = Counter()
    for term in terms.split(","):
        name, _, text = term.partition("=")
        if text == "None":  # a register without a value: perf takes numbers only
            return None
        value = int(text or "1", 0)
        if name == "period":
            continue
        if name in WORDS:
            words[name] |= value
            continue
        word, _, bits = known.get(name, "").partition(":")
        placed = spread(value, bits) if bits else None
        if placed is None:
            return None
        words[word] |= placed
    return {word: value for word, value in words.items() if value}


def scale(text):
    """(factor, unit) of "64Bytes"."""
    number = re.match(r"[0-9.]+(?:[eE][-+]?[0-9]+)?", text or "")
    return (float(number[0]), text[number.end():]) if number else (1.0, text or "")


def lists_of(source, architecture):
    """The folders of the architecture that mapfile.csv names, and those called sys."""
    folder = source / "arch" / architecture
    lines = [line.split(",") for line in (folder / "mapfile.csv").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names = [fields[2] for fields in lines if len(fields) == 4 and fields[3] == "core"]
    return [*dict.fromkeys(names), *sorted(str(each.relative_to(folder)) for each in folder.rglob("sys"))]


def events_of(jevents, folder):
    """The events and metrics that jevents.py reads from the folder of one list."""
    for file in sorted(folder.glob("*.json")):
        if file.name != "metricgroups.json":
            yield from jevents.read_json_events(str(file), "")


def encoded(anyperf, name, events):
    """{event: its encodings, by PMU, or None if it is refused}. A refused name ends a call, so its batch is halved."""
    run = subprocess.run([anyperf, "encode", "--json", "--cpu", name, *events], capture_output=True, text=True)
    if run.returncode == 0:
        found = defaultdict(dict)
        for group in json.loads(run.stdout)["groups"]:
            for event in group["events"]:
                found[event["typed"]][event.get("type_of") or event.get("pmu") or "default_core"] = event
        return found
    if len(events) == 1:
        return {events[0]: None}
    middle = len(events) // 2
    return {**encoded(anyperf, name, events[:middle]), **encoded(anyperf, name, events[middle:])}


def differs(ours, event, wanted):
    """What differs, or None."""
    pmu = "default_core" if event.pmu == "default_core" and "default_core" in ours else event.pmu
    if pmu not in ours and event.pmu in ("cpu_core", "cpu_atom"):
        pmu = "default_core"
    if pmu not in ours:
        return f"not an event of {event.pmu}"
    got = ours[pmu]
    words = {word: got["attr"][word] for word in WORDS if got["attr"].get(word)}
    if words != wanted:
        return f"{words} instead of {wanted}"
    if (got.get("scale", 1), got.get("unit", "")) != scale(event.unit):
        return f"scale {got.get('scale')} {got.get('unit')} instead of {event.unit}"
    return None


def check_events(anyperf, formats, architecture, name, events, totals, shown):
    names = sorted({event.name for event in events})
    ours = {}
    for start in range(0, len(names), BATCH):
        ours.update(encoded(anyperf, name, names[start:start + BATCH]))
    for event in events:
        wanted = code(event.event, formats.of(architecture, name, event.pmu))
        got = ours.get(event.name)
        if wanted is None:
            what = None if not got or event.pmu not in got else "encoded, though its PMU has no such field"
            kind = "refused by both"
        elif got and all(each["attr"].get("type", 0) == 0 for each in got.values()):
            what, kind = None, "names that the kernel defines for every CPU"
        else:
            what = "refused" if not got else differs(got, event, wanted)
            kind = "equal"
        totals[architecture, "different" if what else kind] += 1
        if what:
            shown.append(f"{name} {event.name} ({event.pmu}/{event.event}/): {what}")


def formula(metric, text):
    return metric.ParsePerfJson(text).Simplify().ToPerfJson()


def check_metrics(metric, architecture, name, file, metrics, totals, shown):
    """data/vendor has the formulas as the lists have them; those of jevents.py are simplified."""
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    ours = defaultdict(set)
    for row in rows[1:]:
        ours[row[0]].add((formula(metric, row[3]), row[1], row[2]))
    for each in metrics:
        wanted = (each.metric_expr.ToPerfJson(), each.metric_group or "-", each.unit or "-")
        same = wanted in ours[each.metric_name]
        totals[architecture, "metrics equal" if same else "different"] += 1
        if not same:
            shown.append(f"{name} metric {each.metric_name}: {ours[each.metric_name]} instead of {wanted}")


def main():
    source, anyperf = Path(sys.argv[1]), sys.argv[2]
    data = Path(__file__).resolve().parents[2] / "data" / "vendor"
    jevents, metric = load(source)
    # Metrics that refer to others are the same formulas, shortened.
    jevents.metric.RewriteMetricsInTermsOfOthers = lambda metrics: {}
    formats, totals, shown = Formats(data / "formats.tsv"), Counter(), []
    for architecture in ARCHITECTURES:
        jevents._arch_std_events.clear()
        jevents.preprocess_arch_std_files(str(source / "arch" / architecture))
        for name in lists_of(source, architecture):
            if sys.argv[3:] and name not in sys.argv[3:]:
                continue
            read = list(events_of(jevents, source / "arch" / architecture / name))
            check_events(anyperf, formats, architecture, name, [each for each in read if each.name], totals, shown)
            check_metrics(metric, architecture, name, data / "metrics" / f"{name}.tsv",
                          [each for each in read if each.metric_name and each.metric_expr], totals, shown)
    for line in shown[:MOST_SHOWN]:
        print(line)
    for (architecture, kind), count in sorted(totals.items()):
        print(f"{architecture}: {count} {kind}")
    sys.exit(1 if shown else 0)


if __name__ == "__main__":
    main()
