// tokens.h: an event string cut into its pieces, without a meaning yet.
//
//   {  cpu/event=0x3c,name=a/u , sched:sched_switch }:S
//      parts   terms        tail  parts             modifiers of the group
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "events/fault.h"

namespace anyperf::events {

/// Between two slashes: "name" or "name=value".
struct Term {
    std::string_view text;  ///< all of it, for messages
    std::string_view name;
    std::optional<std::string_view> value;  ///< without its quotes
};

/// One event as typed. Views point into the string.
struct Item {
    std::string_view text;
    std::vector<std::string_view> parts;  ///< separated by colons, before the slashes; never empty
    bool slashes = false;
    std::vector<Term> terms;
    std::vector<std::string_view> tail;  ///< behind the second slash, separated by colons
};

struct GroupText {
    std::string_view name;
    std::string_view modifiers;
    std::vector<Item> items;
    bool braces = false;
};

Parsed<std::vector<GroupText>> tokenize(std::string_view text);

/// The list between two slashes alone: a sysfs alias ("event=0x3c,umask=1").
Parsed<std::vector<Term>> tokenize_terms(std::string_view text);

}  // namespace anyperf::events
