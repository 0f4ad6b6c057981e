#!/usr/bin/env python3
"""Compares the house with its plan: every #include between folders of src/ must be an arrow of some CMakeLists.txt
(DEPENDS, followed through), and no file may be longer than 800 lines. Prints the figures of CONTRIBUTING.md's house rules.
"""
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE = 800


def arrows():
    """Folder -> folders that it may include, directly or through others. A library below a folder counts as the folder."""
    direct, home = {}, {}
    for lists in (ROOT / "src").rglob("CMakeLists.txt"):
        for folder, rest in re.findall(r"anyperf_library\((\w+)\s(.*?)\)", lists.read_text(), re.S):
            depends = re.search(r"DEPENDS((?:\s+[a-z_0-9]+)+)", rest)
            direct[folder] = set(depends.group(1).split()) if depends else set()
            home[folder] = lists.relative_to(ROOT / "src").parts[0]
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


def main():
    faults = list(foreign_includes(arrows()))
    by_file = lengths()
    faults += [f"{name} has {count} lines" for name, count in by_file.items() if count > LONGEST_FILE]
    counts = sorted(by_file.values())
    print(f"{len(counts)} files, lines: median {statistics.median(counts):.0f}, "
          f"95% {counts[int(len(counts) * 0.95)]}, longest {counts[-1]}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
