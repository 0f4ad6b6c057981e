// breakpoint.cpp: "mem:ADDR[/LENGTH][:rwx]": hardware watchpoints and execution breakpoints (perf-record(1)).
// attr.config1 is bp_addr, config2 is bp_len.
#include <algorithm>
#include <array>

#include "abi/event_ids.h"
#include "events/sources/name_source.h"
#include "events/syntax/modifiers.h"
#include "events/syntax/text.h"
#include "try.h"

namespace anyperf::events {

namespace {

constexpr std::uint32_t kRead = 1;
constexpr std::uint32_t kWrite = 2;
constexpr std::uint32_t kExecute = 4;
constexpr std::uint64_t kDataLength = 4;     // the default of perf: HW_BREAKPOINT_LEN_4
constexpr std::uint64_t kExecuteLength = 8;  // sizeof(long), which the kernel requires

constexpr std::array<std::pair<char, std::uint32_t>, 3> kAccesses{{{'r', kRead}, {'w', kWrite}, {'x', kExecute}}};

/// The bp_type of the letters; nothing if one is unknown or given twice.
std::optional<std::uint32_t> access(std::string_view letters) {
    std::uint32_t type = 0;
    for (const char letter : letters) {
        const auto row = std::ranges::find(kAccesses, letter, &std::pair<char, std::uint32_t>::first);
        if (row == kAccesses.end() || type & row->second) return std::nullopt;
        type |= row->second;
    }
    return type;
}

Parsed<std::uint64_t> length(std::string_view text) {
    const auto value = number(text);
    if (!value || !std::has_single_bit(*value) || *value > 8)
        return parse_error(text, in_quotes(text) + " is not a valid length of a breakpoint",
                           "use 1, 2, 4 or 8 (bytes)");
    return *value;
}

/// ADDRESS[/LENGTH].
struct Place {
    std::uint64_t address = 0;
    std::optional<std::uint64_t> bytes;
};

Parsed<Place> place(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = number(text.substr(0, slash));
    if (!address)
        return parse_error(text.substr(0, slash), "a breakpoint needs an address, as in mem:0x401000:x",
                           "to find the address of a symbol use nm; to count calls use uprobe:PATH:SYMBOL");
    Place result{*address, {}};
    if (slash != std::string_view::npos) result.bytes = TRY(length(text.substr(slash + 1)));
    return result;
}

/// The accesses, and how many parts of the item are used up then. Without letters: the default of perf, rw.
Parsed<std::pair<std::uint32_t, std::size_t>> accesses(const Item& item) {
    if (item.parts.size() < 3) return std::pair{kRead | kWrite, std::size_t{2}};
    const std::string_view letters = item.parts[2];
    const auto type = letters.empty() ? std::nullopt : access(letters);
    if (!type && are_modifiers(letters)) return std::pair{kRead | kWrite, std::size_t{2}};
    if (!type)
        return parse_error(letters, in_quotes(letters) + " is not a kind of access",
                           "use r, w, rw or x, each letter once");
    if ((*type & kExecute) && *type != kExecute)
        return parse_error(letters, "one breakpoint can't watch both execution and data",
                           "write two events, one with x and one without");
    return std::pair{*type, std::size_t{3}};
}

}  // namespace

// The CPU compares aligned addresses (SDM volume 3, "Breakpoint Field Recognition"), so the kernel refuses a data
// breakpoint whose address is not a multiple of its length; the message here says which lengths fit.
Parsed<std::optional<Match>> from_breakpoints(const Machine::Data&, const Item& item) {
    if (item.parts[0] != "mem" || item.parts.size() < 2) return std::nullopt;
    const Place where = TRY(place(item.parts[1]));
    const auto [type, parts] = TRY(accesses(item));
    const std::uint64_t bytes = where.bytes.value_or(type == kExecute ? kExecuteLength : kDataLength);
    if (type != kExecute && where.address % bytes != 0)
        return parse_error(item.parts[1], "the address is not a multiple of the length, " + std::to_string(bytes),
                           "use a shorter length: mem:ADDRESS/1, /2, /4 or /8");
    Match match = make_match(abi::kTypeBreakpoint, 0, parts);
    Event& event = match.events.front();
    event.attr.bp_type = type;
    event.attr.config1 = where.address;
    event.attr.config2 = bytes;
    return match;
}

}  // namespace anyperf::events
