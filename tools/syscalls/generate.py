#!/usr/bin/env python3
"""Converts data/syscalls/syscalls.tsv to rows of C++: `generate.py names|tracepoints --data FILE --output FILE`.

names: {number, "name"}, for every call. tracepoints: {number, "name", "arguments"}, for the calls that have tracepoints, with the
name that those have.
"""

import argparse
import pathlib
import sys


def rows(path):
    """(number, name, tracepoint, arguments) in the order of the numbers. A fault in the table ends the build with a message."""
    last = -1
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        number, name, tracepoint, arguments = line.split("\t")
        if int(number) <= last:
            sys.exit(f"{path}: {name} is out of order")
        if not name or not tracepoint:
            sys.exit(f"{path}: number {number} has no name")
        if tracepoint == "-" and arguments:
            sys.exit(f"{path}: {name} has arguments, but no tracepoint")
        if arguments.count(";") > 5:
            sys.exit(f"{path}: {name} has more than six arguments")
        last = int(number)
        yield number, name, tracepoint, arguments


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("form", choices=["names", "tracepoints"])
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if options.form == "names":
        lines = [f'{{{number}, "{name}"}},\n' for number, name, _, _ in rows(options.data)]
    else:
        lines = [f'{{{number}, "{tracepoint}", "{arguments}"}},\n' for number, _, tracepoint, arguments in rows(options.data)
                 if tracepoint != "-"]
    options.output.write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    main()
