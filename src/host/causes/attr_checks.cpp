// attr_checks.cpp: checks that compare an attr and the open flags with limits of the kernel, of this machine and of the
// call itself. Kernel side: perf_copy_attr(), perf_event_validate_size() and perf_event_open() in kernel/events/core.c.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "abi/attr_sizes.h"
#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/causes/pmu_names.h"
#include "host/kernel/sysctl.h"

namespace anyperf::host::causes {

namespace {

/// The most that one read of a whole group may return. A sample can contain such a read, and a record has at most 64
/// KiB: the kernel leaves the rest to call chains, registers and the like (perf_event_validate_size(),
/// kernel/events/core.c).
constexpr int kMaxReadBytes = 16 * 1024;

/// The fields beyond the first `bytes` bytes of the attr that the user set: "sig_data, config3". abi::kAttrSizes has
/// the fields that each published size added.
std::string fields_beyond(const abi::Attr& attr, std::uint32_t bytes) {
    std::array<unsigned char, sizeof(abi::Attr)> raw;
    std::memcpy(raw.data(), &attr, sizeof attr);
    std::string names;
    std::uint32_t start = 0;
    for (const abi::AttrSize& row : abi::kAttrSizes) {
        bool used = false;
        for (std::uint32_t i = start; i < row.bytes; ++i) used = used || raw[i] != 0;
        if (used && row.bytes > bytes) names += (names.empty() ? "" : ", ") + std::string{row.adds};
        start = row.bytes;
    }
    return names;
}

/// The most words of a read without PERF_FORMAT_GROUP: the count, both times, the id and the lost samples.
constexpr std::size_t kMostWordsOfOneEvent = 5;

/// How many members the group of `fd` has; 0 if that is not known. With PERF_FORMAT_GROUP the first word of a read is
/// the number of members; without, it is the leader's count. A read that is longer than any of one event must have that
/// format.
std::uint64_t group_size(int fd) {
    std::array<std::uint64_t, kMaxReadBytes / sizeof(std::uint64_t)> values{};
    const ssize_t bytes = ::read(fd, values.data(), sizeof values);
    return bytes > static_cast<ssize_t>(kMostWordsOfOneEvent * sizeof(std::uint64_t)) ? values[0] : 0;
}

}  // namespace

Found attr_larger_than_kernel_supports(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.size != 0 && (attr.size < 64 || attr.size > 4096))
        return Cause{fmt::format("attr.size is {}; a perf_event_attr has 64 to 4096 bytes", attr.size),
                     "set attr.size to sizeof(struct perf_event_attr)"};
    // The kernel accepts a larger attr than it knows if the rest is zero, so size alone is not the cause.
    const std::uint32_t known = failure.can_retry() ? failure.kernel.attr_size() : 0;
    if (known == 0 || attr.size <= known) return {};
    const std::string fields = fields_beyond(attr, known);
    if (fields.empty()) return {};
    return Cause{
        fmt::format("this kernel's perf_event_attr has {} bytes, but fields after those are set: {}", known, fields),
        "leave them out, or boot a newer kernel"};
}

// If the event opens by itself, it is the group that is too large.
Found group_too_large(const Failure& failure) {
    const auto& call = failure.call;
    if (call.group_fd < 0 || !failure.can_retry()) return {};
    OpenCall alone = call;
    alone.group_fd = -1;
    if (failure.kernel.try_open(alone) != 0) return {};
    const std::uint64_t count = group_size(call.group_fd);
    return Cause{
        fmt::format("{} opens alone but not in this group{}: one read of a group must return less than {} bytes",
                    failure.event, count > 0 ? fmt::format(" of {}", count) : "", kMaxReadBytes),
        "split the group, or set fewer read_format bits"};
}

Found bad_pointer_in_config(const Failure& failure) {
    const std::string pmu = pmu_of_type(failure.root, failure.call.attr.type);
    if (pmu != "uprobe" && pmu != "kprobe") return {};
    return Cause{fmt::format("config1 ({:#x}) of a {} event must be the address of a name, but it can't be read",
                             failure.call.attr.config1, pmu),
                 "pass the address of a NUL-terminated path or function name"};
}

Found stack_deeper_than_limit(const Failure& failure) {
    const auto& attr = failure.call.attr;
    const auto limit = kernel_setting(failure.root, "perf_event_max_stack");
    if ((attr.sample_type & kSampleCallchain) == 0 || !limit || attr.sample_max_stack <= *limit) return {};
    return Cause{
        fmt::format("call chains of {} frames were requested, but kernel.perf_event_max_stack is {} "
                    "(/proc/sys/kernel/perf_event_max_stack)",
                    attr.sample_max_stack, *limit),
        fmt::format("request at most {}; or as root, with no event open: sysctl kernel.perf_event_max_stack={}", *limit,
                    attr.sample_max_stack)};
}

// The call is tried without the bit: a kernel that can't copy the user stack answers ENOSYS because of the bit alone.
Found stack_dump_unsupported(const Failure& failure) {
    if ((failure.call.attr.sample_type & kSampleStackUser) == 0 || !failure.can_retry()) return {};
    OpenCall without = failure.call;
    without.attr.sample_type &= ~kSampleStackUser;
    if (failure.kernel.try_open(without) == failure.errno_value) return {};
    return Cause{"this kernel can't copy the user stack into samples (PERF_SAMPLE_STACK_USER) on this architecture",
                 "use frame-pointer call chains: --call-graph fp"};
}

// With attr.freq the field sample_period is a frequency. The kernel lowers the limit itself when interrupts take too
// much time (perf_sample_event_took()), so it may differ from what was configured.
Found sample_rate_above_limit(const Failure& failure) {
    const auto& attr = failure.call.attr;
    const auto limit = kernel_setting(failure.root, "perf_event_max_sample_rate");
    if (!failure.has_flag(kFreq) || !limit || std::cmp_less_equal(attr.sample_period, *limit)) return {};
    return Cause{
        fmt::format("{} samples per second were requested, but kernel.perf_event_max_sample_rate is {} (the kernel "
                    "lowers it when sampling takes too much time)",
                    attr.sample_period, *limit),
        fmt::format("use -F {} or less; or as root: sysctl kernel.perf_event_max_sample_rate={}", *limit,
                    attr.sample_period)};
}

Found no_such_tracepoint(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.type != abi::kTypeTracepoint) return {};
    // The call is tried with the id alone, so that nothing else can be refused.
    OpenCall plain{};
    plain.attr.type = abi::kTypeTracepoint;
    plain.attr.size = attr.size;
    plain.attr.config = attr.config;
    plain.attr.flags = attr.flags & kExcludeKernel;
    if (!failure.can_retry() || failure.kernel.try_open(plain) != failure.errno_value) return {};
    return Cause{fmt::format("the kernel has no tracepoint with id {}", attr.config),
                 "use the number in tracefs, events/SUBSYSTEM/NAME/id; it differs between kernels"};
}

// The kernel checks the flags' bits before it looks at the attr, and the cgroup's CPU after it.
Found bad_open_flags(const Failure& failure) {
    const auto& call = failure.call;
    if ((call.flags & ~kAllOpenFlags) != 0)
        return Cause{fmt::format("flags {:#x} has bits that perf_event_open doesn't know", call.flags & ~kAllOpenFlags),
                     "use only PERF_FLAG_FD_NO_GROUP (1), FD_OUTPUT (2), PID_CGROUP (4), FD_CLOEXEC (8)"};
    if ((call.flags & kPidCgroup) != 0 && (call.pid == -1 || call.cpu == -1))
        return Cause{"a cgroup must be counted on each CPU separately, but the call names none",
                     "open one event per CPU (-a or -C)"};
    return {};
}

Found neither_process_nor_cpu(const Failure& failure) {
    if (failure.call.pid != -1 || failure.call.cpu != -1) return {};
    return Cause{"neither a process nor a CPU is given (pid -1 with cpu -1)",
                 "give a process (pid 0 is the caller), or open one event per CPU"};
}

}  // namespace anyperf::host::causes
