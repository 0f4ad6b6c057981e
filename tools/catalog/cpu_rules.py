"""cpu_rules.py: parses the `cpu` column of a PMU into rules (kind, family, first and last model, first and last stepping,
table, text).

`intel:6/78,94-95 stepping<5 = x86/other_table; …`: family and models with the extended fields added; ranges are inclusive;
`*` is any model.
"""
import re

from layout import CPU_KINDS

RULE = re.compile(r"^(?P<kind>[a-z0-9]+)(?::(?P<rest>.*?))?(?:\s=\s(?P<table>\S+))?$")
X86 = re.compile(r"^(?P<family>\d+)/(?P<models>[\d,*-]+)(?:\s+stepping(?P<sign><|>=)(?P<stepping>\d+))?$")
ANY = 0xffff


def spans(text):
    """The inclusive ranges in "3,5,7-255" or "*"."""
    if text == "*":
        return [(0, ANY)]
    ends = [piece.partition("-") for piece in text.split(",")]
    return [(int(low), int(high or low)) for low, _, high in ends]


def x86_rules(kind, rest, table):
    """A rule for each range of models in "FAMILY/MODELS stepping<N"."""
    match = X86.match(rest)
    if not match:
        raise ValueError(f"not FAMILY/MODELS: {rest}")
    low, high = 0, 255
    if match["sign"] == "<":
        high = int(match["stepping"]) - 1
    elif match["sign"]:
        low = int(match["stepping"])
    return [(kind, int(match["family"]), first, last, low, high, table, "") for first, last in spans(match["models"])]


def rules_of(piece):
    """The rules of one piece between semicolons."""
    match = RULE.match(piece.strip())
    if not match or match["kind"] not in CPU_KINDS:
        raise ValueError(f"no such kind of CPU: {piece}")
    kind, rest, table = match["kind"], (match["rest"] or "").strip(), match["table"] or ""
    if kind in ("intel", "amd"):
        return x86_rules(kind, rest, table)
    if kind == "arm":
        implementer, _, part = rest.partition("/")
        return [(kind, int(implementer, 0), int(part, 0), int(part, 0), 0, 255, table, "")]
    if kind == "pvr":
        return [(kind, 0, int(version, 0), int(version, 0), 0, 255, table, "") for version in rest.split(",")]
    return [(kind, 0, 0, ANY, 0, 255, table, rest)]


def parse(cell):
    """The rules of a whole cell. Raises ValueError for what it can't parse."""
    return [rule for piece in cell.split(";") for rule in rules_of(piece)]
