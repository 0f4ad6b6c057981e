// limits.cpp: RLIMIT_AS and RLIMIT_DATA. The kernel would count the engine's memory against them, and the engine
// reserves far more than it touches. So the engine keeps them in the process's record: execve keeps them, fork copies
// them. It enforces them in the calls by which memory grows: mmap, mprotect, mremap, brk, shmat, execve
// (memory_limits.h).
//
// Limits that were set before the run come here, too: the broker lifts them in the kernel and states them to the first
// program (run/facts.h). Without privilege it can lift the soft limit only, up to the hard one. If there is no
// difference, the limit stays in the kernel, and all calls are passed through.
//
// Not covered: stacks that grow by themselves do not count for RLIMIT_AS; prlimit(2) from outside of the run, or from
// another pid namespace, does not reach the record; two threads that grow memory at the same moment may both pass the
// check.
#include <errno.h>
#include <linux/capability.h>
#include <sys/resource.h>

#include "engine/freestanding/capabilities.h"
#include "engine/freestanding/pages.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/locked_memory.h"
#include "engine/syscalls/memory_limits.h"
#include "engine/threads/run_records.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};  // RLIM_INFINITY

/// The limit in the kernel; no limit if the call fails.
run::ResourceLimit kernel_limit(std::uint64_t pid, std::uint64_t resource) {
    run::ResourceLimit limit{kNone, kNone};
    kernel_call(__NR_prlimit64, pid, resource, 0, address_of(&limit));
    return limit;
}

bool is_kept_kind(std::uint64_t resource) {
    return resource == RLIMIT_AS || resource == RLIMIT_DATA;
}

run::KeptLimit kind_of(std::uint64_t resource) {
    return resource == RLIMIT_AS ? run::KeptLimit::address_space : run::KeptLimit::data;
}

/// The record that keeps this limit of process `pid`, 0 for the caller's. Null if the engine does not keep it: another
/// resource, a process without a record, or a limit in the kernel.
run::ProcessRecord* record_with_limit(const Call& call, std::uint64_t pid, std::uint64_t resource) {
    if (!is_kept_kind(resource)) return nullptr;
    run::ProcessRecord* const record =
        pid == 0 ? record_of(call.thread) : record_of_thread(call.engine, static_cast<std::int32_t>(pid));
    if (record == nullptr || record->limits.has(kind_of(resource))) return record;
    const run::ResourceLimit kernel = kernel_limit(pid, resource);
    return kernel.soft == kNone && kernel.hard == kNone ? record : nullptr;
}

/// Raising a hard limit needs privilege (setrlimit(2)).
bool may_raise_limits() {
    return has_capability(CAP_SYS_RESOURCE);
}

/// The checks are those of do_prlimit() in the kernel. Returns 0 or a negated errno.
long set_limit(run::ProcessRecord& record, std::uint64_t resource, const run::ResourceLimit& wanted) {
    if (wanted.soft > wanted.hard) return -EINVAL;
    if (wanted.hard > record.limits.get(kind_of(resource)).hard && !may_raise_limits()) return -EPERM;
    record.limits.set(kind_of(resource), wanted);
    return 0;
}

}  // namespace

namespace handlers {

long getrlimit(Call& call) {
    const run::ProcessRecord* const record = record_with_limit(call, 0, call.argument[0]);
    if (record == nullptr) return call.pass_to_kernel();
    const run::ResourceLimit limit = record->limits.get(kind_of(call.argument[0]));
    return x86_64::guarded_copy(at_address<void>(call.argument[1]), &limit, sizeof limit) ? 0 : -EFAULT;
}

long setrlimit(Call& call) {
    run::ProcessRecord* const record = record_with_limit(call, 0, call.argument[0]);
    if (record == nullptr) return call.pass_to_kernel();
    run::ResourceLimit wanted;
    if (!x86_64::guarded_copy(&wanted, at_address<const void>(call.argument[1]), sizeof wanted)) return -EFAULT;
    return set_limit(*record, call.argument[0], wanted);
}

long prlimit64(Call& call) {
    const auto [pid, resource, wanted_at, old_at, unused, unused_too] = call.argument;
    run::ProcessRecord* const record = record_with_limit(call, static_cast<std::uint32_t>(pid), resource);
    if (record == nullptr) return call.pass_to_kernel();
    run::ResourceLimit wanted;
    if (wanted_at != 0 && !x86_64::guarded_copy(&wanted, at_address<const void>(wanted_at), sizeof wanted))
        return -EFAULT;
    // Whether the caller may do it to that process is for the kernel to say.
    if (const long allowed = kernel_call(__NR_prlimit64, pid, resource, 0, 0); is_error(allowed)) return allowed;
    const run::ResourceLimit old = record->limits.get(kind_of(resource));
    const long answer = wanted_at != 0 ? set_limit(*record, resource, wanted) : 0;
    if (answer != 0 || old_at == 0) return answer;
    return x86_64::guarded_copy(at_address<void>(old_at), &old, sizeof old) ? 0 : -EFAULT;
}

long brk(Call& call) {
    // On failure brk(2) returns the break as it was.
    const auto now = static_cast<std::uint64_t>(kernel_call(__NR_brk, 0));
    const std::uint64_t wanted = call.argument[0];
    if (!fits_break(call.thread, wanted) ||
        (wanted > now && !fits_memory_limits(call.thread, page_up(wanted) - page_up(now), true)))
        return static_cast<long>(now);
    const long got = call.pass_to_kernel();
    if (const auto end = static_cast<std::uint64_t>(got); end > now)
        lock_new_memory(call.engine, page_up(now), page_up(end) - page_up(now));
    return got;
}

}  // namespace handlers

}  // namespace anyperf::engine
