#!/usr/bin/env python3
"""header.py: src/pfm/pfmlib.h.in -> perfmon/pfmlib.h: replaces @PMU_IDS@ by the enumerators of pfm_pmu_t.

header.py --data data/events --template src/pfm/pfmlib.h.in --output perfmon/pfmlib.h
"""
import argparse
from pathlib import Path

import facts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--template", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    ids = facts.read(options.data).ids
    lines = "\n".join(f"    {name} = {number}," for number, name in sorted(ids.items()))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(options.template.read_text().replace("@PMU_IDS@", lines))


if __name__ == "__main__":
    main()
