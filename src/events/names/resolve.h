// resolve.h: one item of an event string becomes its events.
//
// How parse() (parse.cpp) resolves an event string such as "{cycles,cpu/event=0x3c/}:u":
// - tokenize() (tokens.h) splits it into groups and items: names, terms between slashes, modifiers. Nothing has a
//   meaning yet.
// - resolve() asks each source of names (name_source.h) whether it knows the name of an item. The order is: forms that
//   no name can be mistaken for (breakpoints, probes), names of the kernel, events of PMUs in sysfs, raw codes, the
//   vendors' lists, the catalog, tracepoints. The first source that answers wins. The answer is a Match: one event, or
//   several if the item means several PMUs or tracepoints.
// - If the source did not use the terms, they are applied as terms that every event takes (common_terms.h): period,
//   name, call-graph, …
// - The modifiers of the item are applied (modifiers.h).
// - add_groups() (grouping.h) puts the events into groups and applies the modifiers of the group.
//
// An error is a ParseError (parse_error.h): the piece of the string that is wrong, the cause, and what to write
// instead.
#pragma once

#include <vector>

#include "anyperf/event.h"
#include "events/machine/machine_data.h"
#include "events/syntax/parse_error.h"
#include "events/syntax/tokens.h"

namespace anyperf::events {

/// Resolves one item: source, terms, modifiers of the item, then the names to print. The result is never empty.
Parsed<std::vector<Event>> resolve(const Machine::Data& machine, const Item& item);

}  // namespace anyperf::events
