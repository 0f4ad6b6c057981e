// refused.cpp: calls that the engine answers like a kernel without them, because they would affect the engine, too.
// Most programs can do without these calls, because some kernels do not have them.
#include <errno.h>
#include <linux/prctl.h>

#include <algorithm>
#include <array>

#include "engine/syscalls/handlers.h"
#include "engine/threads/run_records.h"

namespace anyperf::engine::handlers {

namespace {

/// A refused option of prctl(2) and why.
struct PrctlRow {
    std::uint64_t option;
    std::string_view name;
    std::string_view note;
};

/// Answered with EINVAL, as by a kernel built without the option.
constexpr std::array kRefusedPrctls{
    PrctlRow{PR_GET_SECCOMP, "PR_GET_SECCOMP", "see seccomp"},
    PrctlRow{PR_SET_SECCOMP, "PR_SET_SECCOMP", "see seccomp"},
    PrctlRow{PR_SET_SYSCALL_USER_DISPATCH, "PR_SET_SYSCALL_USER_DISPATCH",
             "the engine's calls would be dispatched, too"},
    PrctlRow{65, "PR_SET_MDWE", "the code cache is writable and executable"},
    PrctlRow{66, "PR_GET_MDWE", "see PR_SET_MDWE"},
};

}  // namespace

long not_implemented(Call&) {
    return -ENOSYS;
}

long prctl(Call& call) {
    const std::uint64_t option = call.argument[0];
    // By this option anyperf asks whether its own process is a program of a run (broker/launch/inside_run.h).
    if (option == run::kRunVersionPrctl) return run::kRunStateVersion;
    if (std::ranges::find(kRefusedPrctls, option, &PrctlRow::option) != kRefusedPrctls.end()) return -EINVAL;
    const long got = call.pass_to_kernel();
    if (!is_error(got) && option == PR_SET_NAME) update_names(call.thread);
    return got;
}

}  // namespace anyperf::engine::handlers
