"""check.py: checks data/events for faults: repeated names, equal codes or masks, aliases of missing names, groups with several
defaults, PMUs without a table. A fault that comes from the vendor's own list is kept; it is a row of known_faults.tsv, with the
reason. Each generator below yields (kind of fault, what has it).
"""
import re
import sys
from collections import Counter

import cpu_rules
from facts import rows


def repeated(names):
    """The names, in upper case, that occur more than once without regard to case."""
    return [name for name, count in Counter(name.upper() for name in names).items() if count > 1]


def repeated_names(table):
    """Events or masks of one name. Masks that are limited to different models may share a name."""
    for name in repeated(event.name for event in table.events):
        yield "repeated-event", name
    for event in table.events:
        limited = [mask for mask in event.masks if not {"model", "from", "till"} & set(mask.extra)]
        for name in repeated(mask.name for mask in limited):
            yield "repeated-mask", f"{event.name}:{name}"


def overlapping_codes(table):
    """Two events with the same code that neither masks nor an alias distinguish."""
    plain = [event for event in table.events if not event.masks and not event.extra.get("equiv")]
    by_code = Counter((event.code, event.extra.get("type"), event.extra.get("model")) for event in plain)
    for event in plain:
        if by_code[(event.code, event.extra.get("type"), event.extra.get("model"))] > 1:
            yield "equal-code", event.name


def equal_masks(table):
    """Two masks of one group that have the same effect, neither of which is an alias."""
    for event in table.events:
        seen = {}
        for mask in event.masks:
            done = (mask.group, mask.code, tuple(sorted((k, v) for k, v in mask.extra.items() if k not in ("equiv", "cnt"))))
            other = seen.setdefault(done, mask)
            if other is not mask and "equiv" not in mask.extra and "equiv" not in other.extra:
                yield "equal-mask", f"{event.name}:{mask.name}"


def dangling_aliases(table, modifiers):
    """Aliases of an event, mask or modifier that does not exist, or of themselves."""
    names = {event.name.upper() for event in table.events}
    for event in table.events:
        target = event.extra.get("equiv")
        if target and re.split("[:.]", target)[0].upper() not in names:
            yield "dangling-alias", event.name
        elif target and re.split("[:.]", target)[0].upper() == event.name.upper():
            yield "alias-of-itself", event.name
        masks = {mask.name.upper() for mask in event.masks}
        for mask in event.masks:
            pieces = [piece.partition("=")[0].upper() for piece in re.split("[:.]", mask.extra.get("equiv", "")) if piece]
            if any(piece not in masks and piece not in modifiers for piece in pieces):
                yield "dangling-alias", f"{event.name}:{mask.name}"


def groups_without_choice(table):
    """A wrong number of groups, or a group with several defaults that can't be combined."""
    for event in table.events:
        groups = {mask.group for mask in event.masks}
        if groups and max(groups) + 1 != int(event.extra.get("ngrp", max(groups) + 1)):
            yield "group-count", event.name
        for group in groups:
            defaults = [mask for mask in event.masks if mask.group == group and "dfl" in mask.flags]
            unlimited = [mask for mask in defaults if not {"model", "from", "till"} & set(mask.extra)]
            if len(unlimited) > 1 and any("ncombo" in mask.flags for mask in unlimited):
                yield "several-defaults", f"{event.name}:{group}"


def table_faults(facts):
    """(table, kind, what) for each fault of a table."""
    modifiers = {item.name.upper() for item in facts.modifiers}
    for name, table in facts.tables.items():
        for found in (repeated_names(table), overlapping_codes(table), equal_masks(table), dangling_aliases(table, modifiers),
                      groups_without_choice(table)):
            yield from ((name, kind, what) for kind, what in found)


def pmu_faults(facts):
    """("pmus", kind, what) for each fault of a PMU row."""
    for name in repeated(pmu.name for pmu in facts.pmus) + repeated(pmu.enum for pmu in facts.pmus):
        yield "pmus", "repeated-pmu", name
    for number, count in Counter(pmu.id for pmu in facts.pmus).items():
        if count > 1:
            yield "pmus", "repeated-id", str(number)
    for pmu in facts.pmus:
        if pmu.table not in facts.tables and "*" not in pmu.table:
            yield "pmus", "no-table", pmu.name
        if facts.ids.get(pmu.id) != pmu.enum:
            yield "pmus", "id-of-another", pmu.name
        if not cpu_rules.parse(pmu.cpu):
            yield "pmus", "no-cpu", pmu.name


def report(facts, known_file):
    """Prints the faults that are not in `known_file` and the rows of it that are no longer faults. Returns the exit status."""
    known = {(cells[0], cells[1], cells[2]) for _, cells in rows(known_file)} if known_file.exists() else set()
    found = set(table_faults(facts)) | set(pmu_faults(facts))
    for fault in sorted(found - known):
        print("new fault: " + "\t".join(fault), file=sys.stderr)
    for fault in sorted(known - found):
        print("listed in known_faults.tsv, but gone: " + "\t".join(fault), file=sys.stderr)
    print(f"{len(facts.pmus)} PMUs, {len(facts.tables)} tables, {sum(len(t.events) for t in facts.tables.values())} events, "
          f"{len(found)} known faults")
    return 1 if found != known else 0
