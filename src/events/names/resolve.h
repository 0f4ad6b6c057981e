// resolve.h: turns one item of an event string into events.
//
// How parse() (parse.cpp) resolves an event string such as "{cycles,cpu/event=0x3c/}:u":
// - tokenize() (tokens.h) splits it into groups and items: names, terms between slashes, modifiers. Nothing has a
//   meaning yet.
// - resolve() asks the sources of names (name_source.h) in turn whether they know the name of the item. The order is:
//   forms that cannot be mistaken for a name (breakpoints, probes), the kernel's names of events and of cache events,
//   PMUs with terms, events of PMUs in sysfs, raw codes, perf's lists, the catalog, tracepoints. The first source that
//   answers decides, even if its answer is an error. Otherwise the answer is a Match: one event, or several if the item
//   means several PMUs or tracepoints.
// - If the source did not use the terms, resolve() applies them as terms that every event takes (common_terms.h):
//   period, name, call-graph, …
// - resolve() applies the modifiers of the item (modifiers.h). For the modifier P it lowers precise_ip to what the PMU
//   supports. Then it sets the name to print.
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

/// Resolves one item: finds its source, then applies its terms and modifiers and sets the names to print. The result is
/// never empty.
Parsed<std::vector<Event>> resolve(const Machine::Data& machine, const Item& item);

}  // namespace anyperf::events
