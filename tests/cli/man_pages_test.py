#!/usr/bin/env python3
"""Each verb has a man page that names all of its options, and anyperf(1) names each verb. The oracle is the bash completion.

man_pages_test.py ANYPERF"""
import re
import subprocess
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "man"


def main():
    script = subprocess.run([sys.argv[1], "completion", "bash"], text=True, capture_output=True, check=True).stdout
    options = dict(re.findall(r'^        (\w+)\) words="([^"]*)"', script, re.M))
    overview = (PAGES / "anyperf.1.scd").read_text()
    faults = []
    for verb, words in options.items():
        page = PAGES / f"anyperf-{verb}.1.scd"
        if f"*anyperf-{verb}*(1)" not in overview:
            faults.append(f"anyperf(1) does not name anyperf-{verb}(1)")
        if not page.exists():
            faults.append(f"anyperf {verb} has no {page.name}")
            continue
        text = page.read_text().replace("\\", "")
        faults += [f"{page.name} does not have {word}" for word in words.split() if not re.search(rf"\*{word}\b", text)]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
