// attr.cpp: an attr compared with the limits of the kernel and of this machine.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "abi/attr_sizes.h"
#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/causes/pmus.h"
#include "host/sysctl.h"

namespace anyperf::host::causes {

namespace {

constexpr int kMostReadBytes = 16 * 1024;  // of one group: perf_event_validate_size, kernel/events/core.c

/// What an attr of `bytes` bytes leaves out of what the user set: "sig_data, config3".
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

/// Members of the group of `fd`, where its leader reads as a group; else 0.
std::uint64_t members(int fd) {
    std::array<std::uint64_t, kMostReadBytes / sizeof(std::uint64_t)> values{};
    return ::read(fd, values.data(), sizeof values) > 0 ? values[0] : 0;
}

}  // namespace

Found attr_larger_than_kernels(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.size != 0 && (attr.size < 64 || attr.size > 4096))
        return Cause{fmt::format("attr.size is {}; a perf_event_attr has 64 to 4096 bytes", attr.size),
                     "sizeof(struct perf_event_attr)"};
    const std::uint32_t known = failure.can_retry() ? failure.kernel.attr_size() : 0;
    if (known == 0 || attr.size <= known) return {};
    const std::string fields = fields_beyond(attr, known);
    if (fields.empty()) return {};
    return Cause{
        fmt::format("this kernel's perf_event_attr has {} bytes, and these fields beyond are set: {}", known, fields),
        "leave them out, or boot a newer kernel"};
}

Found group_too_large(const Failure& failure) {
    const auto& call = failure.call;
    if (call.group_fd < 0 || !failure.can_retry()) return {};
    OpenCall alone = call;
    alone.group_fd = -1;
    if (failure.kernel.try_open(alone) != 0) return {};
    const std::uint64_t count = members(call.group_fd);
    return Cause{fmt::format("{} opens alone but not in this group{}: what one read of a group returns must stay below "
                             "{} bytes",
                             failure.event, count > 0 ? fmt::format(" of {}", count) : "", kMostReadBytes),
                 "split the group; fewer read_format bits let it be larger"};
}

Found bad_pointer_in_config(const Failure& failure) {
    const std::string pmu = pmu_of_type(failure.root, failure.call.attr.type);
    if (pmu != "uprobe" && pmu != "kprobe") return {};
    return Cause{fmt::format("config1 ({:#x}) of a {} event is the address of a name, and can't be read",
                             failure.call.attr.config1, pmu),
                 "the address of a zero-terminated path or function name"};
}

Found stack_deeper_than_limit(const Failure& failure) {
    const auto& attr = failure.call.attr;
    const auto limit = kernel_setting(failure.root, "perf_event_max_stack");
    if ((attr.sample_type & kSampleCallchain) == 0 || !limit || attr.sample_max_stack <= *limit) return {};
    return Cause{
        fmt::format("call chains of {} frames are asked for, and kernel.perf_event_max_stack is {} "
                    "(/proc/sys/kernel/perf_event_max_stack)",
                    attr.sample_max_stack, *limit),
        fmt::format("ask for at most {}; or as root, with no event open: sysctl kernel.perf_event_max_stack={}", *limit,
                    attr.sample_max_stack)};
}

Found stack_dump_unsupported(const Failure& failure) {
    if ((failure.call.attr.sample_type & kSampleStackUser) == 0 || !failure.can_retry()) return {};
    OpenCall without = failure.call;
    without.attr.sample_type &= ~kSampleStackUser;
    if (failure.kernel.try_open(without) == failure.errno_value) return {};
    return Cause{"this kernel can't copy the user stack into samples (PERF_SAMPLE_STACK_USER) on this architecture",
                 "frame-pointer call chains: --call-graph fp"};
}

Found sample_rate_above_limit(const Failure& failure) {
    const auto& attr = failure.call.attr;
    const auto limit = kernel_setting(failure.root, "perf_event_max_sample_rate");
    if (!failure.has(kFreq) || !limit || std::cmp_less_equal(attr.sample_period, *limit)) return {};
    return Cause{
        fmt::format("{} samples a second are asked for, and kernel.perf_event_max_sample_rate is {} (the kernel "
                    "lowers it where sampling takes too much time)",
                    attr.sample_period, *limit),
        fmt::format("-F {} or less; or as root: sysctl kernel.perf_event_max_sample_rate={}", *limit,
                    attr.sample_period)};
}

Found no_such_tracepoint(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.type != abi::kTypeTracepoint) return {};
    OpenCall plain{};
    plain.attr.type = abi::kTypeTracepoint;
    plain.attr.size = attr.size;
    plain.attr.config = attr.config;
    plain.attr.flags = attr.flags & kExcludeKernel;
    if (!failure.can_retry() || failure.kernel.try_open(plain) != failure.errno_value) return {};
    return Cause{fmt::format("the kernel has no tracepoint with id {}", attr.config),
                 "the number in tracefs' events/SUBSYSTEM/NAME/id, which differs from kernel to kernel"};
}

Found bad_open_flags(const Failure& failure) {
    const auto& call = failure.call;
    if ((call.flags & ~kAllOpenFlags) != 0)
        return Cause{fmt::format("flags {:#x} has bits that perf_event_open doesn't know", call.flags & ~kAllOpenFlags),
                     "PERF_FLAG_FD_NO_GROUP (1), FD_OUTPUT (2), PID_CGROUP (4), FD_CLOEXEC (8)"};
    if ((call.flags & kPidCgroup) != 0 && (call.pid == -1 || call.cpu == -1))
        return Cause{"a cgroup is counted CPU by CPU, and no CPU is named", "one event for each CPU (-a or -C)"};
    return {};
}

Found neither_process_nor_cpu(const Failure& failure) {
    if (failure.call.pid != -1 || failure.call.cpu != -1) return {};
    return Cause{"neither a process nor a CPU is named (pid -1 with cpu -1)",
                 "a process (pid 0 is the caller), or one event for each CPU"};
}

}  // namespace anyperf::host::causes
