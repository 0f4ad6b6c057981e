// virtual_events.cpp: see virtual_events.h.
#include "cli/stat/virtual_events.h"

#include <cerrno>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "pmu/cpu.h"

namespace anyperf::cli::stat {

namespace {

constexpr std::uint64_t kExcludeKernel = abi::flag("exclude_kernel");
constexpr std::uint64_t kExcludeUser = abi::flag("exclude_user");

}  // namespace

bool of_cpu(const events::Event& event) {
    const auto type = event.attr.type;
    return type == abi::kTypeHardware || type == abi::kTypeHwCache || type == abi::kTypeRaw;
}

bool modelled(const events::Event& event) {
    if (!of_cpu(event)) return false;
    const auto quantity = pmu::quantity_of(event.attr);
    return quantity && pmu::row_of(*quantity).source.modelled;
}

events::Event in_user_mode(events::Event event) {
    if (of_cpu(event)) event.attr.flags |= kExcludeKernel;
    return event;
}

std::optional<Error> why_not(const events::Event& event, const counting::Refusal* refusal) {
    if (of_cpu(event) && (event.attr.flags & kExcludeUser) != 0)
        return Error{"cannot count " + event.name, "the virtual PMU sees user mode only", "leave out the modifier k"};
    if (refusal == nullptr) return std::nullopt;
    const int refused = refusal->errno_value;
    if (refused != ENOENT && refused != EOPNOTSUPP && refused != EINVAL) return refusal->error;
    if (of_cpu(event))
        return Error{refusal->error.what,
                     "the virtual PMU counts what retires in user mode, and has no model of " + event.name,
                     "a machine whose kernel has a PMU counts it"};
    return Error{refusal->error.what, "the virtual PMU has hardware and software events only",
                 "anyperf stat --kernel counts it by the kernel"};
}

}  // namespace anyperf::cli::stat
