"""facts.py: reads data/events/ into rows. It knows the columns (data/events/README.md), but not how they are packed."""
from dataclasses import dataclass, field
from pathlib import Path


class BadFact(Exception):
    """A cell that can't be parsed. The message has the file, the line and the cells."""


@dataclass
class Mask:
    """A U row."""
    group: int
    name: str
    code: int
    flags: list
    extra: dict
    line: int


@dataclass
class Event:
    """An E row, or an O row, which is optional, with its masks."""
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
    """The events of one file."""
    name: str
    path: Path
    events: list = field(default_factory=list)


@dataclass
class Pmu:
    """A row of pmus.tsv; the fields are its columns."""
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
    """A row of modifiers.tsv."""
    modset: str
    index: int
    key: str
    name: str
    kind: str


@dataclass
class Facts:
    """All of data/events/: PMUs, tables by name, modifiers, and names of pfm_pmu_t values by number."""
    pmus: list
    tables: dict
    modifiers: list
    ids: dict


def rows(path):
    """(line number, cells) of every row that is not empty or a heading."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            yield number, line.split("\t")


def listed(cell):
    """A list of words; "-" is empty."""
    return [] if cell == "-" else cell.split(",")


def extras(cell):
    """The `extra` column, KEY=VALUE pairs, as a dictionary."""
    return {} if cell == "-" else dict(item.partition("=")[::2] for item in cell.split(" "))


def read_pmu(cells):
    """A row of pmus.tsv, or a P row without its P."""
    texts = dict(zip(list(Pmu.__dataclass_fields__), cells, strict=True))
    for name in ("id", "rev", "num_cntrs", "num_fixed", "max_encoding"):
        texts[name] = int(texts[name], 0)
    for name in ("flags", "plm", "perf_names"):
        texts[name] = listed(texts[name])
    return Pmu(**texts)


def add_row(table, number, cells):
    """Adds an event (E, O) to the table, or a unit mask (U) to its last event."""
    kind, index, name, code, modifiers, flags, extra = cells
    if kind == "U":
        mask = Mask(int(index), name, int(code, 0), listed(flags), extras(extra), number)
        table.events[-1].masks.append(mask)
    else:
        table.events.append(Event(int(index), name, int(code, 0), listed(modifiers), listed(flags), extras(extra), number,
                                  optional=kind == "O"))


def read_file(path, name):
    """Reads a file of tables/ or cpus/. Returns its PMUs (P rows, cpus/ only) and its table.

    "-" as the table of a PMU means this table."""
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
    """The order in which an unprefixed name is looked for: the PMUs of cpus/ come after those of pmus.tsv of their
    architecture, but before the PMUs that every CPU has."""
    last = {"ix86arch": 1, "perf": 3, "perf_raw": 3}
    added = sorted(added, key=lambda pmu: pmu.id)
    x86 = [pmu for pmu in added if pmu.arch_order == "x86"]
    first = [pmu for pmu in known if pmu.arch_order.startswith(("x86", "i386")) and pmu.name not in last]
    arch = [pmu for pmu in known if last.get(pmu.name) == 1]
    other = [pmu for pmu in known if pmu not in first and pmu.name not in last]
    return first + x86 + arch + other + [pmu for pmu in added if pmu not in x86] + \
        [pmu for pmu in known if last.get(pmu.name) == 3]


def read(data):
    """Reads all of data/events/. The PMUs are in the order in which an unprefixed name is looked for."""
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
