// kernel_names.cpp: hardware and software events by name. The spellings are sorted by length, so that a lookup compares
// only the few of the same length.
#include "events/sources/kernel_names.h"

#include <algorithm>
#include <span>

#include "events/sources/name_source.h"
#include "events/syntax/text.h"

namespace anyperf::events {

// Every row names a constant of abi.
static_assert(std::ranges::all_of(kKernelNames, [](const KernelName& row) {
    return abi::name_of(row.type == abi::kTypeHardware ? std::span<const abi::Constant>{abi::kHardware}
                                                       : std::span<const abi::Constant>{abi::kSoftware},
                        row.config) == row.constant;
}));

namespace {

struct Spelling {
    std::string_view text;
    const KernelName* row;
};

/// By length, then in the order of the table.
constexpr auto kSpellings = [] {
    std::array<Spelling, 3 * kKernelNames.size()> all;
    auto* next = all.begin();
    for (const KernelName& row : kKernelNames)
        for (const std::string_view text : {row.name, row.alias, row.constant}) *next++ = {text, &row};
    std::ranges::sort(all, {}, [](const Spelling& spelling) { return std::pair{spelling.text.size(), spelling.row}; });
    return all;
}();

constexpr std::size_t kLongestSpelling = kSpellings.back().text.size();

/// The spellings of length n are kSpellings[kFirst[n]] up to, not including, kFirst[n + 1].
constexpr auto kFirst = [] {
    std::array<std::uint8_t, kLongestSpelling + 2> first{};
    for (const Spelling& spelling : kSpellings)
        for (std::size_t longer = spelling.text.size() + 1; longer < first.size(); ++longer) ++first[longer];
    return first;
}();

}  // namespace

// Nearly every lookup of an unknown name ends at its length or at the first letters.
const KernelName* find_kernel_name(std::string_view name) {
    if (name.size() > kLongestSpelling) return nullptr;
    for (std::size_t i = kFirst[name.size()]; i < kFirst[name.size() + 1]; ++i)
        if (same_ignoring_case(kSpellings[i].text, name)) return kSpellings[i].row;
    return nullptr;
}

Parsed<std::optional<Match>> from_kernel_names(const Machine::Data& machine, const Item& item) {
    const KernelName* row = item.parts[0].empty() ? nullptr : find_kernel_name(item.parts[0]);
    if (!row) return std::nullopt;
    if (row->type == abi::kTypeHardware) return match_each_core_pmu(machine, row->type, row->config, 1);
    return make_match(row->type, row->config);
}

}  // namespace anyperf::events
