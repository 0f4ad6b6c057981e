// limits.cpp: RLIMIT_AS. The kernel would count the engine's memory against the limit, and the engine reserves far more
// than it touches. So the engine keeps a limit that the program sets, in the process's record: execve keeps it, fork
// copies it. It enforces the limit in the calls by which memory grows: mmap, mremap, brk, shmat.
//
// That applies only if the run began without a limit. With a finite limit in the kernel all calls are passed through.
// Not covered: stacks that grow by themselves are not checked; prlimit(2) from another process, or by the id of another
// thread, does not reach the record; two threads that grow memory at the same moment may both pass the check.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "engine/freestanding/capabilities.h"
#include "engine/freestanding/pages.h"
#include "engine/syscalls/address_space.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/locked_memory.h"
#include "engine/threads/run_records.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};  // RLIM_INFINITY

/// The limit in the kernel; no limit if the call fails.
run::AddressSpaceLimit kernel_limit(std::uint64_t resource) {
    run::AddressSpaceLimit limit{kNone, kNone};
    kernel_call(__NR_prlimit64, 0, resource, 0, address_of(&limit));
    return limit;
}

/// The record that keeps the calling process's limit. Null if the engine does not keep it: another resource, no record,
/// or a limit in the kernel.
run::ProcessRecord* record_with_limit(const Call& call, std::uint64_t resource) {
    run::ProcessRecord* const record = resource == RLIMIT_AS ? record_of(call.thread) : nullptr;
    if (record == nullptr) return nullptr;
    const run::AddressSpaceLimit kernel = kernel_limit(resource);
    return kernel.soft == kNone && kernel.hard == kNone ? record : nullptr;
}

/// Raising a hard limit needs privilege (setrlimit(2)).
bool may_raise_limits() {
    return has_capability(CAP_SYS_RESOURCE);
}

run::AddressSpaceLimit limit_of(const run::ProcessRecord& record) {
    return record.has_address_space_limit != 0 ? record.address_space : run::AddressSpaceLimit{kNone, kNone};
}

/// The checks are those of do_prlimit() in the kernel. Returns 0 or a negated errno.
long set_limit(run::ProcessRecord& record, const run::AddressSpaceLimit& wanted) {
    if (wanted.soft > wanted.hard) return -EINVAL;
    if (wanted.hard > limit_of(record).hard && !may_raise_limits()) return -EPERM;
    record.address_space = wanted;
    record.has_address_space_limit = 1;
    return 0;
}

/// Bytes of address space of this process, the engine's included; 0 without /proc.
std::uint64_t bytes_in_use() {
    const long fd = kernel_call(__NR_open, address_of("/proc/self/statm"), O_RDONLY | O_CLOEXEC);
    if (is_error(fd)) return 0;
    char text[32] = {};
    const long got = kernel_call(__NR_read, static_cast<std::uint64_t>(fd), address_of(text), sizeof text - 1);
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    std::uint64_t pages = 0;
    for (long i = 0; i < got && text[i] >= '0' && text[i] <= '9'; ++i)
        pages = pages * 10 + static_cast<std::uint64_t>(text[i] - '0');
    return pages * kPageBytes;
}

}  // namespace

bool has_address_space_limit(const Thread& thread) {
    const run::ProcessRecord* const record = record_of(thread);
    return record != nullptr && record->has_address_space_limit != 0 && record->address_space.soft != kNone;
}

bool fits_address_space_limit(const Thread& thread, std::uint64_t more) {
    if (!has_address_space_limit(thread) || more == 0) return true;
    const std::uint64_t most = record_of(thread)->address_space.soft;
    const std::uint64_t all = bytes_in_use();
    const std::uint64_t ours = own_pages.bytes();
    const std::uint64_t program = all > ours ? all - ours : 0;
    return more <= most && program <= most - more;
}

namespace handlers {

long getrlimit(Call& call) {
    const run::ProcessRecord* const record = record_with_limit(call, call.argument[0]);
    if (record == nullptr) return call.pass_to_kernel();
    const run::AddressSpaceLimit limit = limit_of(*record);
    return x86_64::guarded_copy(at_address<void>(call.argument[1]), &limit, sizeof limit) ? 0 : -EFAULT;
}

long setrlimit(Call& call) {
    run::ProcessRecord* const record = record_with_limit(call, call.argument[0]);
    if (record == nullptr) return call.pass_to_kernel();
    run::AddressSpaceLimit wanted;
    if (!x86_64::guarded_copy(&wanted, at_address<const void>(call.argument[1]), sizeof wanted)) return -EFAULT;
    return set_limit(*record, wanted);
}

long prlimit64(Call& call) {
    const auto [pid, resource, wanted_at, old_at, unused, unused_too] = call.argument;
    // The kernel takes the id of any thread for its process's.
    const auto id = static_cast<std::int32_t>(pid);
    const bool own = id == 0 || id == kernel_call(__NR_getpid) || id == call.thread.tid;
    run::ProcessRecord* const record = own ? record_with_limit(call, resource) : nullptr;
    if (record == nullptr) return call.pass_to_kernel();
    run::AddressSpaceLimit wanted;
    if (wanted_at != 0 && !x86_64::guarded_copy(&wanted, at_address<const void>(wanted_at), sizeof wanted))
        return -EFAULT;
    const run::AddressSpaceLimit old = limit_of(*record);
    const long answer = wanted_at != 0 ? set_limit(*record, wanted) : 0;
    if (answer != 0 || old_at == 0) return answer;
    return x86_64::guarded_copy(at_address<void>(old_at), &old, sizeof old) ? 0 : -EFAULT;
}

long brk(Call& call) {
    // On failure brk(2) returns the break as it was.
    const auto now = static_cast<std::uint64_t>(kernel_call(__NR_brk, 0));
    const std::uint64_t wanted = call.argument[0];
    if (wanted > now && !fits_address_space_limit(call.thread, page_up(wanted) - page_up(now)))
        return static_cast<long>(now);
    const long got = call.pass_to_kernel();
    if (const auto end = static_cast<std::uint64_t>(got); end > now)
        lock_new_memory(call.engine, page_up(now), page_up(end) - page_up(now));
    return got;
}

}  // namespace handlers

}  // namespace anyperf::engine
