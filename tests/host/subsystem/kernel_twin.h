// kernel_twin.h: shared by the differential tests: the kernel's perf_event_open, and a subsystem on fakes that has the
// privileges and limits of this process.
#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem::testing {

inline constexpr std::uint32_t kAttrOfLinux618 = 136;

struct KernelAnswer {
    int descriptor = -1;
    int error = 0;
    std::uint32_t attr_size = 0;  // attr.size after the call
};

/// Calls perf_event_open. `bytes` is a page that starts with the attr; the kernel may write attr.size.
inline KernelAnswer kernel_open(std::span<std::byte> bytes, int pid, int cpu, int group, std::uint64_t flags) {
    KernelAnswer answer;
    const long result = ::syscall(SYS_perf_event_open, bytes.data(), pid, cpu, group, flags);
    answer.error = result < 0 ? errno : 0;
    answer.descriptor = static_cast<int>(result);
    std::memcpy(&answer.attr_size, bytes.data() + offsetof(Attr, size), sizeof answer.attr_size);
    return answer;
}

/// Why this kernel can't be the oracle; empty if its attr is that of Linux 6.18, which the subsystem follows.
inline std::string why_not_linux_618() {
    std::array<std::byte, 4096> page{};
    page[offsetof(Attr, size)] = std::byte{1};
    const KernelAnswer answer = kernel_open(page, 0, -1, -1, 0);
    if (answer.error != E2BIG) return std::string("perf_event_open answers ") + strerrorname_np(answer.error);
    if (answer.attr_size != kAttrOfLinux618) return "attr has another size than in Linux 6.18";
    return {};
}

inline std::int64_t sysctl(const std::string& name) {
    std::int64_t value = 0;
    std::ifstream("/proc/sys/kernel/" + name) >> value;
    return value;
}

inline bool has_capability(unsigned bit) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> data{};
    if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
    return (data.at(bit / 32).effective >> bit % 32 & 1) != 0;
}

/// Gives the fake host the privileges and limits of this process.
inline void copy_rights(FakeHost& host) {
    host.limits_now.cpus = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    host.limits_now.paranoid = static_cast<std::int32_t>(sysctl("perf_event_paranoid"));
    host.limits_now.max_sample_rate = static_cast<std::uint32_t>(sysctl("perf_event_max_sample_rate"));
    host.limits_now.max_stack = static_cast<std::uint16_t>(sysctl("perf_event_max_stack"));
    host.caller = {};
    host.caller.uid = ::geteuid();
    host.caller.perfmon = has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN);
    host.caller.ipc_lock = has_capability(CAP_IPC_LOCK);
}

}  // namespace anyperf::subsystem::testing
