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
                        row.config()) == row.constant;
}));

const KernelName* find_kernel_name(std::string_view name) {
    const auto row = std::ranges::find_if(kKernelNames, [&](const KernelName& known) {
        return same(known.name, name) || same(known.alias, name) || same(known.constant, name);
    });
    return row == kKernelNames.end() ? nullptr : &*row;
}

Parsed<std::optional<Match>> from_kernel_names(const Machine::Data& machine, const Item& item) {
    const KernelName* row = item.parts[0].empty() ? nullptr : find_kernel_name(item.parts[0]);
    if (!row) return std::nullopt;
    if (row->type == abi::kTypeHardware) return on_each_core(machine, row->type, row->config(), 1);
    return Match{{plain_event(row->type, row->config())}};
}

}  // namespace anyperf::events
