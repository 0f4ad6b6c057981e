#!/usr/bin/env python3
"""Checks the structure of the tree:

- every #include between folders of src/ must be an arrow of some CMakeLists.txt (DEPENDS, followed through);
- within a folder, units (a header with its source) must not include each other in a cycle, except for the cycles of
  tools/cycles.tsv, each with its reason; a row that no longer names a cycle is an error, too;
- the rooms of src/engine must not include each other in a cycle: each pair of rooms depends on each other one way at most;
- no file of src/ and include/ includes <linux/perf_event.h>: src/abi has the facts, so that anyperf builds on old headers;
- no file may be longer than 800 lines, and no folder may hold more than 30 files besides its rooms.

Prints the figures of CONTRIBUTING.md's house rules. structure.py --functions also lists the functions longer than 60 lines.
"""
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE = 800
LONG_FUNCTION = 60
MOST_FILES = 30
# Folders of src/ whose rooms, the folders in them, include each other one way. A file directly in such a folder is in no
# room: it may include all of them, and all may include it.
ONE_WAY_ROOMS = ("engine",)
# Installed for users of libpfm, who expect the kernel's header from it. anyperf itself uses none of its constants.
GIVES_KERNEL_HEADER = "src/pfm/perfmon/perf_event.h"
NO_FUNCTION = re.compile(r"\b(namespace|struct|class|enum|union|extern|switch|if|for|while|do|else)\b|=\s*\{|^\s*\}")


def arrows():
    """Folder -> folders that it may include, directly or through others. A library below a folder counts as the folder."""
    direct, home = {}, {}
    for lists in (ROOT / "src").rglob("CMakeLists.txt"):
        for folder, rest in re.findall(r"anyperf_library\((\w+)\s(.*?)\)", lists.read_text(), re.S):
            depends = re.search(r"DEPENDS((?:\s+[a-z_0-9]+)+)", rest)
            direct[folder] = set(depends.group(1).split()) if depends else set()
            home[folder] = lists.relative_to(ROOT / "src").parts[0]
    # Folders that are not a library declare their arrows by `set(ANYPERF_FOLDER_ARROWS other folders…)`.
    for lists in (ROOT / "src").rglob("CMakeLists.txt"):
        for folder, others in re.findall(r"set\(ANYPERF_(\w+)_ARROWS((?:\s+[a-z_0-9]+)+)\)", lists.read_text()):
            direct[folder.lower()] = set(others.split())
            home[folder.lower()] = lists.relative_to(ROOT / "src").parts[0]
    reached = {}

    def reach(folder):
        if folder not in reached:
            reached[folder] = set()
            for other in direct.get(folder, ()):
                reached[folder] |= {other} | reach(other)
        return reached[folder]

    allowed = {}
    for library in direct:
        allowed.setdefault(home[library], set()).update(home.get(other, other) for other in reach(library))
    return allowed


def foreign_includes(allowed):
    for source in sorted((ROOT / "src").rglob("*.[ch]*")):
        folder = source.relative_to(ROOT / "src").parts[0]
        for included in re.findall(r'#include "([a-z_0-9]+)/', source.read_text()):
            if included in ("anyperf", folder) or not (ROOT / "src" / included).is_dir():
                continue
            if included not in allowed.get(folder, set()):
                yield f"{source.relative_to(ROOT)} includes {included}/, which is not in DEPENDS of src/{folder}/CMakeLists.txt"


def kernel_header_includes():
    for folder in ("src", "include"):
        for source in sorted((ROOT / folder).rglob("*.[ch]*")):
            name = str(source.relative_to(ROOT))
            if name != GIVES_KERNEL_HEADER and re.search(r"^\s*#\s*include\s*<linux/perf_event\.h>", source.read_text(), re.M):
                yield f"{name} includes <linux/perf_event.h>; the facts of that header are in src/abi"


def unit_includes():
    """Unit (path without extension, below src/) -> units of the same top folder that its header or source includes."""
    includes = {}
    for source in sorted((ROOT / "src").rglob("*.[ch]*")):
        path = source.relative_to(ROOT / "src")
        unit = str(path.with_suffix(""))
        named = re.findall(r'#include "([a-z_0-9/]+)\.h"', source.read_text())
        inside = {name for name in named if name.split("/")[0] == path.parts[0] and name != unit}
        includes.setdefault(unit, set()).update(inside)
    return {unit: {name for name in named if name in includes} for unit, named in includes.items()}


def cycles(includes):
    """The sets of units or rooms that reach each other (Tarjan's strongly connected components, of two units or more)."""
    order, low, stack, found = {}, {}, [], []

    def visit(unit):
        order[unit] = low[unit] = len(order)
        stack.append(unit)
        for other in sorted(includes[unit]):
            if other not in order:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], order[other])
        if low[unit] == order[unit]:
            at = stack.index(unit)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                found.append(frozenset(component))

    for unit in sorted(includes):
        if unit not in order:
            visit(unit)
    return found


def listed_cycles():
    """tools/cycles.tsv: the units of a cycle, separated by blanks, and the reason."""
    rows = [line.split("\t") for line in (ROOT / "tools" / "cycles.tsv").read_text().splitlines()
            if line and not line.startswith("#")]
    return {frozenset(units.split()): reason for units, reason in rows}


def cycle_faults():
    listed = listed_cycles()
    found = cycles(unit_includes())
    for cycle in found:
        if cycle not in listed:
            yield f"units include each other in a cycle: {' '.join(sorted(cycle))}"
    for cycle in listed:
        if cycle not in found:
            yield f"tools/cycles.tsv lists units that are no cycle: {' '.join(sorted(cycle))}"


def room_includes(folder):
    """Room (path below src/) of a folder -> the other rooms that its files include, each with the includes."""
    rooms = {}
    for source in sorted((ROOT / "src" / folder).rglob("*.[ch]*")):
        path = source.relative_to(ROOT / "src")
        room = str(path.parent)
        if room == folder:
            continue
        included = rooms.setdefault(room, {})
        for name in re.findall(r'#include "([a-z_0-9/]+)\.h"', source.read_text()):
            other = name.rpartition("/")[0]
            if other.startswith(folder + "/") and other != room:
                included.setdefault(other, []).append(f"{path} includes {name}.h")
    return {room: {other: lines for other, lines in included.items() if other in rooms} for room, included in rooms.items()}


def room_cycle_faults():
    for folder in ONE_WAY_ROOMS:
        includes = room_includes(folder)
        for cycle in cycles(includes):
            yield f"rooms include each other in a cycle: {' '.join(sorted(cycle))}"
            for room in sorted(cycle):
                yield from ("  " + line for other in sorted(cycle) for line in includes[room].get(other, ()))


def crowded_folders():
    for folder in sorted(path for path in (ROOT / "src").rglob("*") if path.is_dir()):
        count = sum(entry.is_file() for entry in folder.iterdir())
        if count > MOST_FILES:
            yield f"{folder.relative_to(ROOT)} holds {count} files: it asks for rooms"


def lengths():
    listed = subprocess.run(["git", "ls-files", "src", "include", "tests", "tools", "bench"], cwd=ROOT, text=True,
                            capture_output=True, check=True).stdout.split()
    sources = [name for name in listed if name.endswith((".cpp", ".h", ".S", ".py"))]
    return {name: len((ROOT / name).read_text().splitlines()) for name in sources if (ROOT / name).exists()}


def head_of(lines, row):
    """The row where the declaration begins whose "{" is at the end of `row`. Its parameters may take several rows, and the
    initializers of a constructor's members begin with rows of their own."""
    depth = 0
    for start in range(row, -1, -1):
        depth += lines[start].count(")") - lines[start].count("(")
        if depth <= 0 and not re.match(r"\s*[:,] ", lines[start]) and not (start > 0 and lines[start - 1].endswith("),")):
            return start
    return row


def functions(name):
    """(file:line, number of lines) of each function. Relies on the formatting: a function begins with a parameter list and
    "{" at the end of a line, and ends at the next "}" with the same indentation."""
    lines = (ROOT / name).read_text().splitlines()
    row = 0
    while row < len(lines):
        line = lines[row]
        if not line.endswith("{") or ")" not in line:
            row += 1
            continue
        head = head_of(lines, row)
        indent = len(lines[head]) - len(lines[head].lstrip())
        end = next((i for i in range(row + 1, len(lines)) if lines[i].startswith(" " * indent + "}")), None)
        if end is None or "](" in lines[head] or NO_FUNCTION.search(lines[head].split("(")[0]):
            row += 1
            continue
        yield f"{name}:{head + 1}", end - head + 1
        row = end + 1


def function_figures(names):
    """The lengths of the functions in src/ and include/ as text, and the list of those that are too long."""
    measured = [entry for name in names if name.startswith(("src/", "include/")) and name.endswith((".cpp", ".h"))
                for entry in functions(name)]
    counts = sorted(count for _, count in measured)
    too_long = [f"{place} has a function of {count} lines" for place, count in measured if count > LONG_FUNCTION]
    return (f"{len(counts)} functions, lines: median {statistics.median(counts):.0f}, 95% {counts[int(len(counts) * 0.95)]}, "
            f"longest {counts[-1]}, above {LONG_FUNCTION}: {100 * len(too_long) / len(counts):.1f} %"), too_long


def main():
    faults = [*foreign_includes(arrows()), *kernel_header_includes(), *cycle_faults(), *room_cycle_faults(), *crowded_folders()]
    by_file = lengths()
    faults += [f"{name} has {count} lines" for name, count in by_file.items() if count > LONGEST_FILE]
    counts = sorted(by_file.values())
    print(f"{len(counts)} files, lines: median {statistics.median(counts):.0f}, "
          f"95% {counts[int(len(counts) * 0.95)]}, longest {counts[-1]}")
    figures, too_long = function_figures(by_file)
    print(figures)
    if "--functions" in sys.argv:
        print("\n".join(too_long))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
