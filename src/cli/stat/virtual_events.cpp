// virtual_events.cpp: see virtual_events.h.
#include "cli/stat/virtual_events.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "anyperf/event_names.h"
#include "pmu/cpu.h"

namespace anyperf::cli::stat {

namespace {

constexpr std::uint64_t kExcludeKernel = abi::flag("exclude_kernel");
constexpr std::uint64_t kExcludeUser = abi::flag("exclude_user");

/// Names of AMD's CPUs, whose codes mean something else to the virtual PMU: it is an Intel one (pmu/cpu_events.h).
struct AmdName {
    std::string_view name;
    std::uint64_t config;  ///< of the same thing there
};
constexpr std::array kAmdNames{
    AmdName{"RETIRED_INSTRUCTIONS", 0x00c0},
    AmdName{"CYCLES_NOT_IN_HALT", 0x003c},
    AmdName{"RETIRED_BRANCH_INSTRUCTIONS", 0x00c4},
    AmdName{"RETIRED_TAKEN_BRANCH_INSTRUCTIONS", 0x20c4},
    AmdName{"RETIRED_FAR_CONTROL_TRANSFERS", 0x40c4},
    AmdName{"RETIRED_NEAR_RETURNS", 0x08c4},
    AmdName{"RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS", 0x01c4},
};
constexpr std::uint64_t kNoSuchCode = 0xffff;  // what the virtual PMU refuses
constexpr std::uint64_t kPlainCode = 0xffff;   // event and unit mask, without counter mask, edge or invert

/// A machine's own names are its CPU's, and its CPU may be AMD's.
events::Event by_the_virtual_pmus_codes(events::Event event) {
    if (event.attr.type != abi::kTypeRaw) return event;
    const auto named = events::EventNames::read().encode(event.typed);
    if (!named || !named->pmu.starts_with("amd64_")) return event;
    const auto row = std::ranges::find(kAmdNames, named->event, &AmdName::name);
    const bool known = row != kAmdNames.end() && (event.attr.config & ~kPlainCode) == 0;
    event.attr.config = known ? row->config : kNoSuchCode;
    return event;
}

}  // namespace

bool of_cpu(const events::Event& event) {
    const auto type = event.attr.type;
    return type == abi::kTypeHardware || type == abi::kTypeHwCache || type == abi::kTypeRaw;
}

bool modelled(const events::Event& event) {
    if (!of_cpu(event)) return false;
    const auto quantity = pmu::quantity_of(by_the_virtual_pmus_codes(event).attr);
    return quantity && pmu::row_of(*quantity).source.modelled;
}

events::Event in_user_mode(events::Event event) {
    if (of_cpu(event)) event.attr.flags |= kExcludeKernel;
    return by_the_virtual_pmus_codes(std::move(event));
}

std::optional<Error> why_not(const events::Event& event, const counting::Refusal* refusal) {
    if (of_cpu(event) && (event.attr.flags & kExcludeUser) != 0)
        return Error{"cannot count " + event.name, "the virtual PMU sees user mode only", "leave out the modifier k"};
    if (refusal == nullptr) return std::nullopt;
    const int refused = refusal->errno_value;
    if (refused != ENOENT && refused != EOPNOTSUPP && refused != EINVAL) return refusal->error;
    if (of_cpu(event))
        return Error{refusal->error.what,
                     "the virtual PMU counts what retires in user mode, and has no model of " +
                         (refused == ENOENT ? "caches or branch prediction" : event.name),
                     "a machine whose kernel has a PMU counts it"};
    return Error{refusal->error.what, "the virtual PMU has hardware and software events only",
                 "anyperf stat --kernel counts it by the kernel"};
}

}  // namespace anyperf::cli::stat
