#!/usr/bin/env python3
"""The pages for readers are true: README.md, CONTRIBUTING.md, CHANGELOG.md and docs/.

pages_test.py ANYPERF
- Each relative link leads to a file.
- Each path in backticks of docs/where.md and docs/glossary.md exists. X and VERB in a path stand for a name.
- Each transcript `$ anyperf … --root tests/…` is what the program prints; "..." alone on a line matches any lines."""
import re
import sys
from pathlib import Path

import transcript

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted((ROOT / "docs").glob("*.md"))
OF_PATHS = [ROOT / "docs/where.md", ROOT / "docs/glossary.md"]


def dead_links(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    targets = re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", text)
    return [f"{page.name}: the link {target} leads nowhere" for target in targets if not (page.parent / target).exists()]


def absent_paths(page):
    paths = {path for path in re.findall(r"`([\w.-]+/[\w./-]*)`", page.read_text()) if not re.search(r"\b(X|VERB)\b", path)}
    return [f"{page.name}: there is no {path}" for path in sorted(paths) if not (ROOT / path).exists()]


def wrong_transcripts(page, program):
    faults = []
    for block in re.findall(r"^```\n(\$ anyperf [^\n]* --root tests/.*?)^```$", page.read_text(), re.M | re.S):
        for command, expected in transcript.commands(block)[1]:
            if not transcript.matches(expected, transcript.actual(command, program)):
                faults.append(f"{page.name}: not what this prints: {command}")
    return faults


def main():
    program = Path(sys.argv[1]).resolve()
    faults = [fault for page in PAGES for fault in dead_links(page) + wrong_transcripts(page, program)]
    faults += [fault for page in OF_PATHS for fault in absent_paths(page)]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
