// cache_names.cpp: "L1-dcache-load-misses", "llc-loads", "l1d:read:miss": a cache, then an operation and a result in
// any order. The operation may be left out (read), and so may the result (access).
#include "events/sources/cache_names.h"

#include <optional>
#include <string>

#include "abi/event_ids.h"
#include "events/sources/name_source.h"
#include "events/syntax/char_set.h"
#include "events/syntax/text.h"

namespace anyperf::events {

namespace {

constexpr std::string_view kPrefix = "PERF_COUNT_HW_CACHE_";

struct CacheEvent {
    std::uint64_t cache = 0;
    std::optional<std::uint64_t> op;
    std::optional<std::uint64_t> result;
};

/// Whether a word of `size` letters at the beginning of `text` ends there.
constexpr bool ends_word(std::string_view text, std::size_t size) {
    return text.size() == size || (text.size() > size && text[size] == '-');
}

/// Removes the longest word that `text` is or begins with (followed by '-'), and returns its value.
template <std::size_t n>
std::optional<std::uint64_t> consume_word(std::string_view& text, const std::array<CacheWord, n>& words) {
    std::size_t longest = 0;
    std::optional<std::uint64_t> value;
    for (const CacheWord& word : words)
        for (const std::string_view spelling : word.spellings) {
            const std::size_t size = spelling.size();
            if (size <= longest || !ends_word(text, size) || !same_ignoring_case(text.substr(0, size), spelling))
                continue;
            longest = size;
            value = word.value;
        }
    text.remove_prefix(std::min(text.size(), longest + (value ? 1 : 0)));
    return value;
}

/// Whether all of `text` is an operation, a result, or both; stores them in `event`. A second operation or result is
/// refused by finding no word for it.
bool consume_op_and_result(std::string_view text, CacheEvent& event) {
    while (!text.empty()) {
        if (auto op = event.op ? std::nullopt : consume_word(text, kOpWords)) {
            event.op = op;
        } else if (auto result = event.result ? std::nullopt : consume_word(text, kResultWords)) {
            event.result = result;
        } else {
            return false;
        }
    }
    return true;
}

/// A cache, by its word or by its name in the header of the kernel (PERF_COUNT_HW_CACHE_L1D).
std::optional<std::uint64_t> consume_cache(std::string_view& text) {
    if (!same_ignoring_case(text.substr(0, kPrefix.size()), kPrefix)) return consume_word(text, kCacheWords);
    for (const abi::Constant& cache : abi::kCaches)
        if (same_ignoring_case(text, cache.name)) {
            text = {};
            return cache.value;
        }
    return std::nullopt;
}

/// A quick filter: the first letter rules out most names.
bool may_be_cache(std::string_view name) {
    // Lower-case letters. Not constexpr, because GCC 12 can't read the spellings that a row leaves out.
    static const CharSet kFirst = [] {
        CharSet letters{"p"};  // kPrefix
        for (const CacheWord& word : kCacheWords)
            for (const std::string_view spelling : word.spellings)
                if (!spelling.empty()) letters.add(lower(spelling.front()));
        return letters;
    }();
    return !name.empty() && kFirst.contains(lower(name.front()));
}

/// The valid operations of a cache, for a message: "loads, stores".
std::string list_of_ops(std::uint64_t cache) {
    std::string list;
    for (const CacheWord& op : kOpWords)
        if (kValidOps[cache] >> op.value & 1) list += (list.empty() ? "" : ", ") + std::string{op.spellings[1]};
    return list;
}

}  // namespace

// perf's two names for each valid pair: "L1-dcache-loads" for the accesses and "L1-dcache-load-misses".
std::vector<std::string> cache_event_names() {
    std::vector<std::string> names;
    for (const CacheWord& cache : kCacheWords)
        for (const CacheWord& op : kOpWords) {
            if (!(kValidOps[cache.value] >> op.value & 1)) continue;
            const std::string stem = std::string{cache.spellings[0]} + '-';
            names.push_back(stem + std::string{op.spellings[1]});
            names.push_back(stem + std::string{op.spellings[0]} + "-misses");
        }
    return names;
}

// The words may be joined by '-' in one part or be parts of their own; what is left after them are modifiers.
Parsed<std::optional<Match>> from_cache_names(const Machine::Data& machine, const Item& item) {
    CacheEvent event;
    std::string_view rest = item.parts[0];
    if (!may_be_cache(rest)) return std::nullopt;
    const auto cache = consume_cache(rest);
    if (!cache || !consume_op_and_result(rest, event)) return std::nullopt;
    std::size_t parts = 1;
    while (parts < item.parts.size() && !item.parts[parts].empty() && consume_op_and_result(item.parts[parts], event))
        ++parts;
    const std::uint64_t op = event.op.value_or(0);
    if (!(kValidOps[*cache] >> op & 1))
        return parse_error(item.text,
                           "perf has no event for " + std::string{kOpWords[op].spellings[1]} + " of " +
                               std::string{kCacheWords[*cache].spellings[0]},
                           "use " + list_of_ops(*cache));
    const std::uint64_t config = *cache | op << abi::kCacheOpShift | event.result.value_or(0) << abi::kCacheResultShift;
    return match_each_core_pmu(machine, abi::kTypeHwCache, config, parts);
}

}  // namespace anyperf::events
