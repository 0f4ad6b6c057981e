#!/usr/bin/env python3
"""Compares the house with its plan: every #include between folders of src/ must be an arrow of some CMakeLists.txt
(DEPENDS, followed through), and no file may be longer than 800 lines. Prints the figures of CONTRIBUTING.md's house rules.
structure.py --functions also lists the functions longer than 60 lines.
"""
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE = 800
LONG_FUNCTION = 60
NO_FUNCTION = re.compile(r"\b(namespace|struct|class|enum|union|extern|switch|if|for|while|do|else)\b|=\s*\{|^\s*\}")


def arrows():
    """Folder -> folders that it may include, directly or through others. A library below a folder counts as the folder."""
    direct, home = {}, {}
    for lists in (ROOT / "src").rglob("CMakeLists.txt"):
        for folder, rest in re.findall(r"anyperf_library\((\w+)\s(.*?)\)", lists.read_text(), re.S):
            depends = re.search(r"DEPENDS((?:\s+[a-z_0-9]+)+)", rest)
            direct[folder] = set(depends.group(1).split()) if depends else set()
            home[folder] = lists.relative_to(ROOT / "src").parts[0]
    # Folders that are no library of their own: `set(ANYPERF_FOLDER_ARROWS other folders…)`.
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
                yield f"{source.relative_to(ROOT)} includes {included}/, which is no arrow of src/{folder}/CMakeLists.txt"


def lengths():
    listed = subprocess.run(["git", "ls-files", "src", "include", "tests", "tools", "bench"], cwd=ROOT, text=True,
                            capture_output=True, check=True).stdout.split()
    sources = [name for name in listed if name.endswith((".cpp", ".h", ".S", ".py"))]
    return {name: len((ROOT / name).read_text().splitlines()) for name in sources if (ROOT / name).exists()}


def head_of(lines, row):
    """The row where the declaration begins whose "{" ends this row: parameters may take several lines."""
    depth = 0
    for start in range(row, -1, -1):
        depth += lines[start].count(")") - lines[start].count("(")
        if depth <= 0:
            return start
    return row


def functions(name):
    """(name of file:line, lines) of each function. The code is formatted, so one begins with a parameter list and "{" at the
    end of a line, and ends at the first "}" of the indentation that it began with."""
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
    """The house rules' figures, of the code without its tests; and the functions that are too long."""
    measured = [entry for name in names if name.startswith(("src/", "include/")) and name.endswith((".cpp", ".h"))
                for entry in functions(name)]
    counts = sorted(count for _, count in measured)
    too_long = [f"{place} has a function of {count} lines" for place, count in measured if count > LONG_FUNCTION]
    return (f"{len(counts)} functions, lines: median {statistics.median(counts):.0f}, 95% {counts[int(len(counts) * 0.95)]}, "
            f"longest {counts[-1]}, above {LONG_FUNCTION}: {100 * len(too_long) / len(counts):.1f} %"), too_long


def main():
    faults = list(foreign_includes(arrows()))
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
