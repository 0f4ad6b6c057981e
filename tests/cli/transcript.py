#!/usr/bin/env python3
"""Runs the commands of a transcript and compares their output, both streams together.

transcript.py [--rebase] --anyperf PROGRAM FILE...
sh runs each line "$ COMMAND" in the project's root; "anyperf" is PROGRAM, and MACHINES is the folder of fixture machines.
The lines up to the next command are the expected output: "..." alone on a line matches any lines, "[N]" at the end is exit
status N. Lines "# ..." before the first command are comments.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def commands(text):
    """(command, expected lines) pairs, and the comment before them."""
    head, *parts = re.split(r"^\$ ", text, flags=re.M)
    return head, [(part.split("\n", 1)[0], part.split("\n", 1)[1].rstrip("\n").split("\n")) for part in parts]


def actual(command, program):
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent",
                   "MACHINES": "tests/fixtures/machines", "COLUMNS": "80"}
    result = subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    lines = result.stdout.rstrip("\n").split("\n")
    return lines if result.returncode == 0 else [*lines, f"[{result.returncode}]"]


def matches(expected, got):
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def run(file, program, rebase):
    head, cases = commands(file.read_text())
    failed, rewritten = 0, head
    for command, expected in cases:
        got = actual(command, program)
        keep = matches(expected, got)
        rewritten += "$ " + "\n".join([command, *(expected if keep else got)]) + "\n\n"
        if keep or rebase:
            continue
        failed += 1
        print(f"{file.name}: $ {command}")
        print("\n".join(difflib.unified_diff(expected, got, "expected", "printed", lineterm="")))
    if rebase:
        file.write_text(rewritten.rstrip("\n") + "\n")
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rebase", action="store_true", help="write the current output into the transcripts")
    parser.add_argument("--anyperf", type=Path, required=True)
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    return 1 if sum(run(file, options.anyperf.resolve(), options.rebase) for file in options.files) else 0


if __name__ == "__main__":
    sys.exit(main())
