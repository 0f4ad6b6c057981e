#!/usr/bin/env python3
"""generate.py: packs data/events/ into the catalog image, or with --check reports faults in data/events/.

generate.py --data data/events --output catalog.bin
generate.py --data data/events --check       exits with 1 unless the faults are those in known_faults.tsv
"""
import argparse
import sys
from pathlib import Path

import check
import facts
import pack


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder data/events")
    parser.add_argument("--output", type=Path, help="the file to write the image to")
    parser.add_argument("--check", action="store_true", help="look for faults in the facts")
    options = parser.parse_args()
    try:
        read = facts.read(options.data)
        if options.output:
            options.output.write_bytes(pack.Image(read).bytes())
    except (facts.BadFact, ValueError, KeyError, IndexError) as fault:
        print(f"{options.data}: {fault}", file=sys.stderr)
        return 1
    return check.report(read, options.data / "known_faults.tsv") if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
