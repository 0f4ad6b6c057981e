// kernel_names.cpp: hardware and software events by name.
#include "events/kernel_names.h"

#include <algorithm>
#include <span>

#include "events/source.h"
#include "events/text.h"

namespace anyperf::events {

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

/// By length, in the table's order where that is the same: few names are as long as another one.
constexpr auto kSpellings = [] {
    std::array<Spelling, 3 * kKernelNames.size()> all;
    auto* next = all.begin();
    for (const KernelName& row : kKernelNames)
        for (const std::string_view text : {row.name, row.alias, row.constant}) *next++ = {text, &row};
    std::ranges::sort(all, {}, [](const Spelling& spelling) { return std::pair{spelling.text.size(), spelling.row}; });
    return all;
}();

constexpr std::size_t kLongestSpelling = kSpellings.back().text.size();

/// The spellings of length n are those from kFirst[n] to before kFirst[n + 1].
constexpr auto kFirst = [] {
    std::array<std::uint8_t, kLongestSpelling + 2> first{};
    for (const Spelling& spelling : kSpellings)
        for (std::size_t longer = spelling.text.size() + 1; longer < first.size(); ++longer) ++first[longer];
    return first;
}();

}  // namespace

const KernelName* find_kernel_name(std::string_view name) {
    if (name.size() > kLongestSpelling) return nullptr;
    for (std::size_t i = kFirst[name.size()]; i < kFirst[name.size() + 1]; ++i)
        if (same(kSpellings[i].text, name)) return kSpellings[i].row;
    return nullptr;
}

Parsed<std::optional<Match>> from_kernel_names(const Machine::Data& machine, const Item& item) {
    const KernelName* row = item.parts[0].empty() ? nullptr : find_kernel_name(item.parts[0]);
    if (!row) return std::nullopt;
    if (row->type == abi::kTypeHardware) return on_each_core(machine, row->type, row->config, 1);
    return plain_match(row->type, row->config);
}

}  // namespace anyperf::events
