"""facts.py: data/events/ as rows. Knows the columns (data/events/README.md), nothing of what becomes of them."""
from dataclasses import dataclass, field
from pathlib import Path


class BadFact(Exception):
    """A cell that can't be read: the message names file, line and cell."""


@dataclass
class Mask:
    group: int
    name: str
    code: int
    flags: list
    extra: dict
    line: int


@dataclass
class Event:
    index: int
    name: str
    code: int
    modifiers: list
    flags: list
    extra: dict
    line: int
    optional: bool
    masks: list = field(default_factory=list)


@dataclass
class Table:
    name: str
    path: Path
    events: list = field(default_factory=list)


@dataclass
class Pmu:
    id: int
    enum: str
    name: str
    vendor: str
    type: str
    arch_order: str
    encoder: str
    perf_encoder: str
    perf_attrs: str
    table: str
    rows: str
    modset: str
    flags: list
    plm: list
    rev: int
    num_cntrs: int
    num_fixed: int
    max_encoding: int
    perf_names: list
    since: str
    cpu: str


@dataclass
class Modifier:
    modset: str
    index: int
    key: str
    name: str
    kind: str


@dataclass
class Facts:
    pmus: list
    tables: dict
    modifiers: list
    ids: dict


def rows(path):
    """(line number, cells) of every row that is not a heading."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            yield number, line.split("\t")


def listed(cell):
    return [] if cell == "-" else cell.split(",")


def extras(cell):
    return {} if cell == "-" else dict(item.partition("=")[::2] for item in cell.split(" "))


def read_pmu(cells):
    texts = dict(zip(list(Pmu.__dataclass_fields__), cells, strict=True))
    for name in ("id", "rev", "num_cntrs", "num_fixed", "max_encoding"):
        texts[name] = int(texts[name], 0)
    for name in ("flags", "plm", "perf_names"):
        texts[name] = listed(texts[name])
    return Pmu(**texts)


def add_row(table, number, cells):
    kind, index, name, code, modifiers, flags, extra = cells
    if kind == "U":
        mask = Mask(int(index), name, int(code, 0), listed(flags), extras(extra), number)
        table.events[-1].masks.append(mask)
    else:
        table.events.append(Event(int(index), name, int(code, 0), listed(modifiers), listed(flags), extras(extra), number,
                                  optional=kind == "O"))


def read_file(path, name):
    """A file of tables/ or cpus/: its PMUs (P rows, cpus/ only) and its table."""
    table, pmus = Table(name, path), []
    for number, cells in rows(path):
        try:
            if cells[0] == "P":
                pmus.append(read_pmu(cells[1:]))
                pmus[-1].table = name if pmus[-1].table == "-" else pmus[-1].table
            else:
                add_row(table, number, cells)
        except (ValueError, IndexError) as fault:
            raise BadFact(f"{path}:{number}: {fault}: {cells}") from fault
    for pmu in pmus:
        pmu.rows = str(len(table.events)) if pmu.rows == "-" else pmu.rows
    return pmus, table


def in_search_order(known, added):
    """Those of cpus/ stand behind the known ones of their architecture, but before what every CPU has."""
    last = {"ix86arch": 1, "perf": 3, "perf_raw": 3}
    added = sorted(added, key=lambda pmu: pmu.id)
    x86 = [pmu for pmu in added if pmu.arch_order == "x86"]
    first = [pmu for pmu in known if pmu.arch_order.startswith(("x86", "i386")) and pmu.name not in last]
    arch = [pmu for pmu in known if last.get(pmu.name) == 1]
    other = [pmu for pmu in known if pmu not in first and pmu.name not in last]
    return first + x86 + arch + other + [pmu for pmu in added if pmu not in x86] + \
        [pmu for pmu in known if last.get(pmu.name) == 3]


def read(data):
    """All of data/events/: the PMUs in the order that decides unprefixed names."""
    pmus = [read_pmu(cells) for _, cells in rows(data / "pmus.tsv")]
    tables, added = {}, []
    for path in sorted(data.glob("tables/*/*.tsv")):
        name = f"{path.parent.name}/{path.stem}"
        tables[name] = read_file(path, name)[1]
    for path in sorted(data.glob("cpus/*.tsv")):
        name = f"cpus/{path.stem}"
        more, table = read_file(path, name)
        added += more
        if table.events:
            tables[name] = table
    modifiers = [Modifier(cells[0], int(cells[1]), cells[2], cells[3], cells[4]) for _, cells in rows(data / "modifiers.tsv")]
    ids = {int(cells[0]): cells[1] for _, cells in rows(data / "pmu_ids.tsv")}
    ids.update({pmu.id: pmu.enum for pmu in added})
    return Facts(in_search_order(pmus, added), tables, modifiers, ids)
