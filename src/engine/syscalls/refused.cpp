// refused.cpp: calls that the engine answers like a kernel without them, because they would affect the engine, too.
// Most programs can do without these calls, because some kernels do not have them.
#include <errno.h>
#include <linux/prctl.h>

#include <algorithm>
#include <array>

#include "engine/memory/protected_code.h"
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
};

/// PR_SET_MDWE: from now on the kernel refuses to make memory writable and executable. So pages that the engine has
/// write-protected are made writable for the last time. Arenas that the engine maps later have separate writes.
long refuse_writable_code(Call& call) {
    __atomic_store_n(&call.engine.keeps_code_writable, true, __ATOMIC_SEQ_CST);
    unprotect_all_code(call.engine);
    const long got = call.pass_to_kernel();
    if (is_error(got)) __atomic_store_n(&call.engine.keeps_code_writable, false, __ATOMIC_SEQ_CST);
    return got;
}

}  // namespace

long not_implemented(Call&) {
    return -ENOSYS;
}

long prctl(Call& call) {
    const std::uint64_t option = call.argument[0];
    // By this option anyperf asks whether its own process is a program of a run (broker/launch/inside_run.h).
    if (option == run::kRunVersionPrctl) return run::kRunStateVersion;
    if (std::ranges::find(kRefusedPrctls, option, &PrctlRow::option) != kRefusedPrctls.end()) return -EINVAL;
    constexpr std::uint64_t kSetMdwe = 65;  // PR_SET_MDWE of Linux 6.3
    if (option == kSetMdwe && !call.engine.keeps_code_writable) return refuse_writable_code(call);
    const long got = call.pass_to_kernel();
    if (!is_error(got) && option == PR_SET_NAME) update_names(call.thread);
    return got;
}

}  // namespace anyperf::engine::handlers
