// refused.cpp: calls that are answered as by a kernel without them, because what they ask for would be done to the
// engine as well.
#include <errno.h>
#include <linux/prctl.h>

#include <algorithm>
#include <array>

#include "engine/ledger.h"
#include "engine/syscalls/handlers.h"

namespace anyperf::engine::handlers {

namespace {

struct PrctlRow {
    std::uint64_t option;
    std::string_view name;
    std::string_view note;
};

/// Answered with EINVAL, as by a kernel that was built without it.
constexpr std::array kRefusedPrctls{
    PrctlRow{PR_GET_SECCOMP, "PR_GET_SECCOMP", "see seccomp"},
    PrctlRow{PR_SET_SECCOMP, "PR_SET_SECCOMP", "see seccomp"},
    PrctlRow{PR_SET_SYSCALL_USER_DISPATCH, "PR_SET_SYSCALL_USER_DISPATCH", "the engine's calls would be dispatched"},
    PrctlRow{65, "PR_SET_MDWE", "the code cache is memory that is written and executed"},
    PrctlRow{66, "PR_GET_MDWE", "the same"},
};

}  // namespace

long not_there(Call&) {
    return -ENOSYS;
}

long prctl(Call& call) {
    const std::uint64_t option = call.argument[0];
    if (option == kInsideRun) return kRunStateVersion;
    if (std::ranges::find(kRefusedPrctls, option, &PrctlRow::option) != kRefusedPrctls.end()) return -EINVAL;
    const long got = call.pass();
    if (!is_error(got) && option == PR_SET_NAME) note_names(call.thread);
    return got;
}

}  // namespace anyperf::engine::handlers
