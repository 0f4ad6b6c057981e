// ioctls.h: the ioctls of an event's descriptor and the flags of perf_event_open (perf_event_open(2), "perf_event ioctl
// calls" and "flags").
//
// A request number is that of _IO('$', n), _IOW, _IOR or _IOWR: direction << 30 | size << 16 | '$' << 8 | n. The size
// is that of the type in the macro, which for some requests is a pointer and not the argument's own size.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "abi/constant.h"

namespace anyperf::abi {

/// How an ioctl's third argument is passed.
enum class ArgumentKind : std::uint8_t {
    value,       ///< a number
    descriptor,  ///< a file descriptor
    in,          ///< pointer to memory that is read
    out,         ///< pointer to memory that is written
    in_out,      ///< pointer to memory that is read, then written
    text_in,     ///< pointer to a string that is read
    attr_in,     ///< pointer to a perf_event_attr that is read
};

struct Ioctl {
    std::uint32_t request;
    std::string_view name;
    ArgumentKind argument;
    std::uint32_t bytes;     ///< size of the memory; for a string (with its NUL) or an attr the maximum; 0: no pointer
    std::string_view since;  ///< the first Linux that has it
    std::string_view note;
};

namespace detail {
inline constexpr std::uint32_t kNone = 0, kWrite = 1, kRead = 2, kWord = 8, kInt = 4;
inline constexpr std::uint32_t kPage = 4096;  // PAGE_SIZE: the limit of strndup_user() and of perf_copy_attr()
consteval std::uint32_t request(std::uint32_t direction, std::uint32_t size, std::uint32_t number) {
    return direction << 30 | size << 16 | std::uint32_t{'$'} << 8 | number;
}
}  // namespace detail

/// The only list of the requests. The agent looks up here how to fetch an argument (agent/syscalls/ioctl.cpp), and the
/// subsystem looks up which handler a request has (subsystem/ioctl/ioctl.cpp).
inline constexpr std::array kIoctls{
    Ioctl{detail::request(detail::kNone, 0, 0), "PERF_EVENT_IOC_ENABLE", ArgumentKind::value, 0, "2.6.31",
          "kIoctlFlags"},
    Ioctl{detail::request(detail::kNone, 0, 1), "PERF_EVENT_IOC_DISABLE", ArgumentKind::value, 0, "2.6.31",
          "kIoctlFlags"},
    Ioctl{detail::request(detail::kNone, 0, 2), "PERF_EVENT_IOC_REFRESH", ArgumentKind::value, 0, "2.6.31",
          "enables for so many more overflows"},
    Ioctl{detail::request(detail::kNone, 0, 3), "PERF_EVENT_IOC_RESET", ArgumentKind::value, 0, "2.6.31",
          "kIoctlFlags; clears the count, not the times"},
    Ioctl{detail::request(detail::kWrite, detail::kWord, 4), "PERF_EVENT_IOC_PERIOD", ArgumentKind::in,
          sizeof(std::uint64_t), "2.6.31", "u64: the period or frequency"},
    Ioctl{detail::request(detail::kNone, 0, 5), "PERF_EVENT_IOC_SET_OUTPUT", ArgumentKind::descriptor, 0, "2.6.33",
          "records go to another event's ring; -1: to none"},
    Ioctl{detail::request(detail::kWrite, detail::kWord, 6), "PERF_EVENT_IOC_SET_FILTER", ArgumentKind::text_in,
          detail::kPage, "2.6.33", "tracepoints; address filters of AUX PMUs"},
    Ioctl{detail::request(detail::kRead, detail::kWord, 7), "PERF_EVENT_IOC_ID", ArgumentKind::out,
          sizeof(std::uint64_t), "3.12", "u64: the event's id"},
    Ioctl{detail::request(detail::kWrite, detail::kInt, 8), "PERF_EVENT_IOC_SET_BPF", ArgumentKind::descriptor, 0,
          "4.1", "a BPF program"},
    Ioctl{detail::request(detail::kWrite, detail::kInt, 9), "PERF_EVENT_IOC_PAUSE_OUTPUT", ArgumentKind::value, 0,
          "4.7", "0: continue, anything else: pause"},
    Ioctl{detail::request(detail::kRead | detail::kWrite, detail::kWord, 10), "PERF_EVENT_IOC_QUERY_BPF",
          ArgumentKind::in_out, 2 * sizeof(std::uint32_t), "4.16", "struct perf_event_query_bpf before its ids"},
    Ioctl{detail::request(detail::kWrite, detail::kWord, 11), "PERF_EVENT_IOC_MODIFY_ATTRIBUTES", ArgumentKind::attr_in,
          detail::kPage, "4.17", "breakpoints only"},
};

/// The number of the request with this name. A name that is not in the table does not compile.
consteval std::uint32_t ioctl_request(std::string_view name) {
    return std::ranges::find(kIoctls, name, &Ioctl::name)->request;
}

/// The argument of ENABLE, DISABLE and RESET: GROUP applies them to the whole group.
inline constexpr std::array kIoctlFlags{
    Constant{1, "PERF_IOC_FLAG_GROUP"},
};

/// The flags of perf_event_open(2). The kernel refuses any other bit with EINVAL.
inline constexpr std::array kOpenFlags{
    Bit{0, "PERF_FLAG_FD_NO_GROUP", "group_fd is for its output only"},
    Bit{1, "PERF_FLAG_FD_OUTPUT", "records go to group_fd's ring"},
    Bit{2, "PERF_FLAG_PID_CGROUP", "pid is the descriptor of a cgroup's directory"},
    Bit{3, "PERF_FLAG_FD_CLOEXEC", "closed at exec"},
};

}  // namespace anyperf::abi
