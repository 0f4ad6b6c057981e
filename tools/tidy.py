#!/usr/bin/env python3
"""Runs clang-tidy over the sources of a build directory, except those that have passed before with the same text.

tidy.py BUILD_DIRECTORY [--since REVISION [--most N]]: all sources, or those that changed since the revision: the largest
changes first, and no more than N, by default as many as a test run has time for. Exits with 1 if anything was found.
"""
import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_OF_A_CHANGE = 12  # files; about a minute on two cores
NOT_CLANGS = ("-fno-sanitize-recover=undefined", "-flto", "-fno-fat-lto-objects", "-fno-tree-loop-distribute-patterns", "-mgeneral-regs-only",
              "-mmemset-strategy", "-mmemcpy-strategy", "-Wno-restrict", "-Wno-stringop")

# As cmake/anyperf_targets.cmake gives them to clang: std::stable_sort of GCC 12's library calls a deprecated function.
FOR_CLANG = ("-Wno-unknown-attributes", "-Wno-deprecated-declarations")


def arguments(entry):
    """The compile command without options that only gcc knows and without those that write files."""
    words = [word for word in shlex.split(entry["command"]) if not word.startswith(NOT_CLANGS)]
    start = next(i for i, word in enumerate(words) if word.endswith(("g++", "gcc"))) + 1
    kept, skip = [], False
    for word in words[start:]:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT"):
            skip = word != "-c"
        elif word not in ("-MD", entry["file"]):
            kept.append(word)
    return kept


def fingerprint(entry):
    """A hash of the preprocessed text, so that it changes with the headers, too."""
    text = subprocess.run(["clang++-19", "-E", "-P", *arguments(entry), entry["file"]], cwd=entry["directory"],
                          capture_output=True, check=False).stdout
    return hashlib.sha256(text + (ROOT / ".clang-tidy").read_bytes()).hexdigest()


def check(entry, passed):
    mark = passed / fingerprint(entry)
    if mark.exists():
        return ""
    result = subprocess.run(["clang-tidy-19", "--quiet", entry["file"], "--", *arguments(entry), *FOR_CLANG], cwd=entry["directory"],
                            capture_output=True, text=True, check=False)
    if result.returncode == 0:
        mark.touch()
        return ""
    return result.stdout + "".join(line for line in result.stderr.splitlines(True) if "error:" in line)


def changed_since(revision):
    """The changed files, those with the most added lines first; none if the revision is missing (a clone of depth 1)."""
    rows = subprocess.run(["git", "diff", "--numstat", "--diff-filter=d", revision, "--", "*.cpp"], cwd=ROOT, text=True,
                          capture_output=True, check=False).stdout.splitlines()
    by_lines = sorted((row.split("\t") for row in rows), key=lambda row: -int(row[0]))
    return [str(ROOT / path) for _, _, path in by_lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_DIRECTORY")
    parser.add_argument("--since", metavar="REVISION")
    parser.add_argument("--most", metavar="N", type=int, default=MOST_OF_A_CHANGE)
    options = parser.parse_args()
    build = (ROOT / options.build).resolve()
    passed = build / "tidy-passed"
    passed.mkdir(exist_ok=True)
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if not entry["file"].startswith(str(build)) and entry["file"].endswith(".cpp")]
    if options.since:
        wanted = changed_since(options.since)[:options.most]
        entries = [entry for entry in entries if entry["file"] in wanted]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = [found for found in pool.map(lambda entry: check(entry, passed), entries) if found]
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
