#!/usr/bin/env python3
"""Turns data/syscalls/syscalls.tsv into rows of C++: `generate.py --data FILE --output FILE`."""

import argparse
import pathlib
import sys


def rows(path):
    """(number, name, arguments) in order of numbers; what is wrong with the table ends the build."""
    last = -1
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        number, name, arguments = line.split("\t")
        if int(number) <= last:
            sys.exit(f"{path}: {name} is out of order")
        if arguments.count(";") > 5:
            sys.exit(f"{path}: {name} has more than six arguments")
        last = int(number)
        yield number, name, arguments


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    options = parser.parse_args()
    text = "".join(f'SyscallRow{{{number}, "{name}", "{arguments}"}},\n' for number, name, arguments in rows(options.data))
    options.output.write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
