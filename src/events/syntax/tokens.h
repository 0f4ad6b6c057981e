// tokens.h: splits an event string into groups, items, terms and modifiers. The pieces have no meaning yet.
//
//   {  cpu/event=0x3c,name=a/u , sched:sched_switch }:S
//      parts   terms        tail  parts             modifiers of the group
//
// All views point into the string, which must outlive them. The lists are in a ScratchMemory, which must outlive them,
// too.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <vector>

#include "events/syntax/parse_error.h"

namespace anyperf::events {

/// A term between two slashes: "name" or "name=value".
struct Term {
    std::string_view text;  ///< all of it, for messages
    std::string_view name;
    std::optional<std::string_view> value;  ///< without its quotes
};

using Words = std::pmr::vector<std::string_view>;
using Terms = std::pmr::vector<Term>;

/// One event as typed. Its lists are allocated from the memory resource it is made with.
struct Item {
    explicit Item(std::pmr::memory_resource* memory) : parts(memory), terms(memory), tail(memory) {}

    std::string_view text;
    Words parts;           ///< separated by colons, before the slashes; never empty
    bool slashes = false;  ///< terms were written, even if none: "cpu//"
    Terms terms;
    Words tail;  ///< after the second slash, separated by colons: modifiers
};

/// A group in braces, or one item without braces.
struct GroupText {
    explicit GroupText(std::pmr::memory_resource* memory) : items(memory) {}

    std::string_view name;       ///< of "name:{a,b}"; empty: none
    std::string_view modifiers;  ///< after the closing brace; empty: none
    std::pmr::vector<Item> items;
    bool braces = false;
};

/// Memory for the pieces of a string during one call: 2 KiB on the stack, more from the heap. A dozen pieces from the
/// heap would cost as much as the parsing itself.
class ScratchMemory {
  public:
    std::pmr::memory_resource* memory() { return &memory_; }

  private:
    std::array<std::byte, 2048> bytes_;
    std::pmr::monotonic_buffer_resource memory_{bytes_.data(), bytes_.size()};
};

/// Splits an event string. The pieces are allocated from `scratch`, which must outlive them.
Parsed<std::pmr::vector<GroupText>> tokenize(std::string_view text, ScratchMemory& scratch);

/// Splits the terms of an alias in sysfs ("event=0x3c,umask=1").
Parsed<Terms> tokenize_terms(std::string_view text, ScratchMemory& scratch);

}  // namespace anyperf::events
