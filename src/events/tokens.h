// tokens.h: an event string cut into its pieces, without a meaning yet.
//
//   {  cpu/event=0x3c,name=a/u , sched:sched_switch }:S
//      parts   terms        tail  parts             modifiers of the group
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
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

using Words = std::pmr::vector<std::string_view>;
using Terms = std::pmr::vector<Term>;

/// One event as typed; its lists lie where it is told to put them. Views point into the string.
struct Item {
    explicit Item(std::pmr::memory_resource* memory) : parts(memory), terms(memory), tail(memory) {}

    std::string_view text;
    Words parts;  ///< separated by colons, before the slashes; never empty
    bool slashes = false;
    Terms terms;
    Words tail;  ///< behind the second slash, separated by colons
};

struct GroupText {
    explicit GroupText(std::pmr::memory_resource* memory) : items(memory) {}

    std::string_view name;
    std::string_view modifiers;
    std::pmr::vector<Item> items;
    bool braces = false;
};

/// Where pieces of a string lie that live as long as one call: nearly always on the stack. A dozen pieces from the heap
/// cost as much as their letters.
class Room {
  public:
    std::pmr::memory_resource* memory() { return &memory_; }

  private:
    std::array<std::byte, 2048> bytes_;
    std::pmr::monotonic_buffer_resource memory_{bytes_.data(), bytes_.size()};
};

/// The pieces lie in `room`, which must outlive them.
Parsed<std::pmr::vector<GroupText>> tokenize(std::string_view text, Room& room);

/// The list between two slashes alone: a sysfs alias ("event=0x3c,umask=1").
Parsed<Terms> tokenize_terms(std::string_view text, Room& room);

}  // namespace anyperf::events
