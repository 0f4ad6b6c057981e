// limits.cpp: RLIMIT_AS. The kernel's own limit would count the engine's memory, too, which reserves far more than it
// touches. So where the run began without one, a limit that the program sets stays in its process's record, which an
// execve keeps and a fork copies, and is held against the program's own memory when that grows by a call. Stacks that
// grow by themselves are not held against it.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "engine/freestanding/pages.h"
#include "engine/ledger.h"
#include "engine/syscalls/address_space.h"
#include "engine/syscalls/handlers.h"
#include "engine/x86_64/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};  // RLIM_INFINITY

AddressSpaceLimit of_kernel(std::uint64_t resource) {
    AddressSpaceLimit limit{kNone, kNone};
    kernel_call(__NR_prlimit64, 0, resource, 0, address_of(&limit));
    return limit;
}

/// The limit of the calling process is ours to keep. Null: the kernel's is the only one.
ProcessRecord* keeper(const Call& call, std::uint64_t resource) {
    ProcessRecord* const record = resource == RLIMIT_AS ? record_of(call.thread) : nullptr;
    if (record == nullptr) return nullptr;
    const AddressSpaceLimit kernel = of_kernel(resource);
    return kernel.soft == kNone && kernel.hard == kNone ? record : nullptr;
}

bool may_raise_limits() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    return !is_error(kernel_call(__NR_capget, address_of(&header), address_of(data))) &&
           (data[0].effective >> CAP_SYS_RESOURCE & 1) != 0;
}

AddressSpaceLimit limit_of(const ProcessRecord& record) {
    return record.limited != 0 ? record.address_space : AddressSpaceLimit{kNone, kNone};
}

/// As do_prlimit() of the kernel.
long set_limit(ProcessRecord& record, const AddressSpaceLimit& wanted) {
    if (wanted.soft > wanted.hard) return -EINVAL;
    if (wanted.hard > limit_of(record).hard && !may_raise_limits()) return -EPERM;
    record.address_space = wanted;
    record.limited = 1;
    return 0;
}

/// Bytes of address space of this process; 0 where /proc is not there.
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

bool limits_address_space(const Thread& thread) {
    const ProcessRecord* const record = record_of(thread);
    return record != nullptr && record->limited != 0 && record->address_space.soft != kNone;
}

bool fits_address_space(const Thread& thread, std::uint64_t more) {
    if (!limits_address_space(thread) || more == 0) return true;
    const std::uint64_t most = record_of(thread)->address_space.soft;
    const std::uint64_t all = bytes_in_use();
    const std::uint64_t ours = own_pages.bytes();
    const std::uint64_t program = all > ours ? all - ours : 0;
    return more <= most && program <= most - more;
}

namespace handlers {

long getrlimit(Call& call) {
    const ProcessRecord* const record = keeper(call, call.argument[0]);
    if (record == nullptr) return call.pass();
    const AddressSpaceLimit limit = limit_of(*record);
    return x86_64::guarded_copy(at_address<void>(call.argument[1]), &limit, sizeof limit) ? 0 : -EFAULT;
}

long setrlimit(Call& call) {
    ProcessRecord* const record = keeper(call, call.argument[0]);
    if (record == nullptr) return call.pass();
    AddressSpaceLimit wanted;
    if (!x86_64::guarded_copy(&wanted, at_address<const void>(call.argument[1]), sizeof wanted)) return -EFAULT;
    return set_limit(*record, wanted);
}

long prlimit64(Call& call) {
    const auto [pid, resource, wanted_at, old_at, unused, unused_too] = call.argument;
    const bool own = pid == 0 || static_cast<std::int32_t>(pid) == kernel_call(__NR_getpid);
    ProcessRecord* const record = own ? keeper(call, resource) : nullptr;
    if (record == nullptr) return call.pass();
    AddressSpaceLimit wanted;
    if (wanted_at != 0 && !x86_64::guarded_copy(&wanted, at_address<const void>(wanted_at), sizeof wanted))
        return -EFAULT;
    const AddressSpaceLimit old = limit_of(*record);
    const long answer = wanted_at != 0 ? set_limit(*record, wanted) : 0;
    if (answer != 0 || old_at == 0) return answer;
    return x86_64::guarded_copy(at_address<void>(old_at), &old, sizeof old) ? 0 : -EFAULT;
}

long brk(Call& call) {
    const auto now = static_cast<std::uint64_t>(kernel_call(__NR_brk, 0));
    const std::uint64_t wanted = call.argument[0];
    if (wanted > now && !fits_address_space(call.thread, page_up(wanted) - page_up(now))) return static_cast<long>(now);
    return call.pass();
}

}  // namespace handlers

}  // namespace anyperf::engine
