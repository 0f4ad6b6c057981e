// cache_names.cpp: "L1-dcache-load-misses", "llc-loads", "l1d:read:miss": a cache, then an operation and a result in
// any order, either of which may be left out (read, access).
#include "events/cache_names.h"

#include <optional>
#include <string>

#include "abi/event_ids.h"
#include "events/letters.h"
#include "events/source.h"
#include "events/text.h"

namespace anyperf::events {

namespace {

constexpr std::string_view kPrefix = "PERF_COUNT_HW_CACHE_";

struct CacheEvent {
    std::uint64_t cache = 0;
    std::optional<std::uint64_t> op;
    std::optional<std::uint64_t> result;
};

/// Whether a word of `size` letters may stand at the beginning of `text`.
constexpr bool ends_word(std::string_view text, std::size_t size) {
    return text.size() == size || (text.size() > size && text[size] == '-');
}

/// The longest of the words that `text` is or begins with (followed by a '-'); taken off it.
template <std::size_t n>
std::optional<std::uint64_t> take_word(std::string_view& text, const std::array<CacheWord, n>& words) {
    std::size_t longest = 0;
    std::optional<std::uint64_t> value;
    for (const CacheWord& word : words)
        for (const std::string_view spelling : word.spellings) {
            const std::size_t size = spelling.size();
            if (size <= longest || !ends_word(text, size) || !same(text.substr(0, size), spelling)) continue;
            longest = size;
            value = word.value;
        }
    text.remove_prefix(std::min(text.size(), longest + (value ? 1 : 0)));
    return value;
}

/// All of `text` as an operation and a result.
bool take_op_and_result(std::string_view text, CacheEvent& event) {
    while (!text.empty()) {
        if (auto op = event.op ? std::nullopt : take_word(text, kOpWords)) {
            event.op = op;
        } else if (auto result = event.result ? std::nullopt : take_word(text, kResultWords)) {
            event.result = result;
        } else {
            return false;
        }
    }
    return true;
}

/// `PERF_COUNT_HW_CACHE_L1D` alone names a cache too.
std::optional<std::uint64_t> take_cache(std::string_view& text) {
    if (!same(text.substr(0, kPrefix.size()), kPrefix)) return take_word(text, kCacheWords);
    for (const abi::Constant& cache : abi::kCaches)
        if (same(text, cache.name)) {
            text = {};
            return cache.value;
        }
    return std::nullopt;
}

/// Most names are seen to be none of a cache by their first letter.
bool may_be_cache(std::string_view name) {
    static const Letters kFirst = [] {  // small ones; no constexpr: GCC 12 can't read what a row leaves out
        Letters letters{"p"};           // kPrefix
        for (const CacheWord& word : kCacheWords)
            for (const std::string_view spelling : word.spellings)
                if (!spelling.empty()) letters.add(lower(spelling.front()));
        return letters;
    }();
    return !name.empty() && kFirst.contains(lower(name.front()));
}

std::string list_of_ops(std::uint64_t cache) {
    std::string list;
    for (const CacheWord& op : kOpWords)
        if (kSensibleOps[cache] >> op.value & 1)
            list += (list.empty() ? "" : ", ") + std::string{op.spellings[0]} + "s";
    return list;
}

}  // namespace

std::vector<std::string> cache_event_names() {
    std::vector<std::string> names;
    for (const CacheWord& cache : kCacheWords)
        for (const CacheWord& op : kOpWords) {
            if (!(kSensibleOps[cache.value] >> op.value & 1)) continue;
            const std::string stem = std::string{cache.spellings[0]} + '-';
            names.push_back(stem + std::string{op.spellings[1]});
            names.push_back(stem + std::string{op.spellings[0]} + "-misses");
        }
    return names;
}

Parsed<std::optional<Match>> from_cache_names(const Machine::Data& machine, const Item& item) {
    CacheEvent event;
    std::string_view rest = item.parts[0];
    if (!may_be_cache(rest)) return std::nullopt;
    const auto cache = take_cache(rest);
    if (!cache || !take_op_and_result(rest, event)) return std::nullopt;
    std::size_t parts = 1;
    while (parts < item.parts.size() && !item.parts[parts].empty() && take_op_and_result(item.parts[parts], event))
        ++parts;
    const std::uint64_t op = event.op.value_or(0);
    if (!(kSensibleOps[*cache] >> op & 1))
        return fault(item.text,
                     "no CPU counts " + std::string{kOpWords[op].spellings[1]} + " of " +
                         std::string{kCacheWords[*cache].spellings[0]},
                     "use " + list_of_ops(*cache));
    const std::uint64_t config = *cache | op << abi::kCacheOpShift | event.result.value_or(0) << abi::kCacheResultShift;
    return on_each_core(machine, abi::kTypeHwCache, config, parts);
}

}  // namespace anyperf::events
