#include "symbols/dwarf/code_table.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace anyperf::symbols {

std::optional<CodeTable::Active> CodeTable::at(std::uint64_t address) const {
    const auto after =
        std::ranges::upper_bound(ranges, address, {}, [](const FunctionRange& each) { return each.range.begin; });
    if (after == ranges.begin() || !std::prev(after)->range.contains(address)) return {};
    const std::uint64_t number = std::prev(after)->function;
    if (number >= functions.size()) return {};
    Active active{.function = &functions[number]};
    if (active.function->first > calls.size() || active.function->count > calls.size() - active.function->first)
        return {};
    // The calls whose ranges hold the address are nested in each other, so ordering them by depth orders them from the
    // innermost to the outermost.
    for (const InlinedCall& call : calls.subspan(active.function->first, active.function->count))
        if (call.range.contains(address)) active.calls.push_back(&call);
    std::ranges::stable_sort(active.calls, std::greater{}, &InlinedCall::depth);
    return active;
}

std::string_view CodeTable::text(std::uint32_t name) const {
    if (name >= texts.size()) return {};
    return texts.substr(name, texts.find('\0', name) - name);
}

}  // namespace anyperf::symbols
