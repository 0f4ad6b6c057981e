#!/usr/bin/env python3
"""Writes docs/conformance.md from two runs of the conformance suite: on the kernel, and under `anyperf run`.

page.py BUILD [OUTPUT]            runs both sides with what BUILD holds
page.py KERNEL.json ANYPERF.json  takes what `conformance --json` has written
"""
import json
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "conformance.md"

HEAD = """# Conformance

Made by `tests/conformance/page.py`; don't edit. Each row is a case of `tests/conformance`: a statement of
perf_event_open(2), or what Linux 6.18 answers where the manual is silent, checked once on the kernel of the machine that made
this page and once under `anyperf run`. A case that can't run says why; differences are explained in
[compatibility.md](compatibility.md).
"""


def run(command, output):
    subprocess.run([*command, "--quiet", "--json", output], check=False, stdout=subprocess.DEVNULL)


def run_both(build):
    suite = str(build / "tests" / "conformance" / "conformance")
    with tempfile.TemporaryDirectory() as scratch:
        kernel, anyperf = Path(scratch) / "kernel.json", Path(scratch) / "anyperf.json"
        run([suite], str(kernel))
        run([str(build / "bin" / "anyperf"), "run", "--", suite, "--has", "hardware,breakpoint,branch_stack", "--differences",
             str(HERE / "differences.tsv")], str(anyperf))
        return json.loads(kernel.read_text()), json.loads(anyperf.read_text())


def cell(row):
    text = row["text"].replace("|", "\\|").replace("\n", " ")
    if row["outcome"] == "pass":
        return "pass"
    if row["outcome"] == "fail":
        return f"**fail**: {text}"
    return f"not run: {text}" if not text.startswith("known to differ") else f"differs: {text.split(': ', 1)[1]}"


def counts(rows):
    outcomes = [row["outcome"] for row in rows]
    return f"{outcomes.count('pass')} pass, {outcomes.count('fail')} fail, {outcomes.count('skip')} not run"


def page(kernel, anyperf):
    other = {row["case"]: row for row in anyperf}
    areas = [(area, list(rows)) for area, rows in groupby(kernel, lambda row: row["case"].split("/")[0])]
    yield HEAD
    yield "| area | cases | kernel | anyperf run |\n|---|---|---|---|"
    for area, rows in [*areas, ("**all**", kernel)]:
        theirs = [other[row["case"]] for row in rows if row["case"] in other]
        yield f"| {area if area.startswith('*') else f'[{area}](#{area})'} | {len(rows)} | {counts(rows)} | {counts(theirs)} |"
    for area, rows in areas:
        yield f"\n## {area}\n\n| case | statement | kernel | anyperf run |\n|---|---|---|---|"
        for row in rows:
            theirs = cell(other[row["case"]]) if row["case"] in other else "not run: no result"
            statement = row["statement"].replace("|", "\\|")
            yield f"| {row['case'].split('/', 1)[1]} | {statement} | {cell(row)} | {theirs} |"


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0].endswith(".json"):
        results, output = [json.loads(Path(name).read_text()) for name in arguments], PAGE
    elif arguments and Path(arguments[0]).is_dir():
        results, output = run_both(Path(arguments[0])), Path(arguments[1]) if len(arguments) > 1 else PAGE
    else:
        print(__doc__, file=sys.stderr)
        return 125
    output.write_text("\n".join(page(*results)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
