// ioctls.h: ioctls of an event's descriptor and flags of perf_event_open (perf_event_open(2), "perf_event ioctl calls",
// "flags"). Requests are _IO('$', n) and its kin: direction << 30 | size << 16 | '$' << 8 | n.
#pragma once

#include <array>

#include "abi/constant.h"

namespace anyperf::abi {

/// What an ioctl's third argument is.
enum class IoctlArgument : std::uint8_t {
    flags,       ///< kIoctlFlags, by value
    count,       ///< a number, by value
    descriptor,  ///< a file descriptor, by value; -1 for none where that has a meaning
    on_off,      ///< 0 or not 0, by value
    u64_in,      ///< pointer to a 64-bit number that is read
    u64_out,     ///< pointer to a 64-bit number that is written
    text_in,     ///< pointer to a string
    query_out,   ///< pointer to struct perf_event_query_bpf
    attr_in,     ///< pointer to struct perf_event_attr
};

struct Ioctl {
    std::uint32_t request;
    std::string_view name;
    IoctlArgument argument;
    std::string_view since;  ///< the Linux that brought it
    std::string_view note;
};

namespace detail {
inline constexpr std::uint32_t kNone = 0, kWrite = 1, kRead = 2, kWord = 8, kInt = 4;
consteval std::uint32_t request(std::uint32_t direction, std::uint32_t size, std::uint32_t number) {
    return direction << 30 | size << 16 | std::uint32_t{'$'} << 8 | number;
}
}  // namespace detail

inline constexpr std::array kIoctls{
    Ioctl{detail::request(detail::kNone, 0, 0), "PERF_EVENT_IOC_ENABLE", IoctlArgument::flags, "2.6.31", ""},
    Ioctl{detail::request(detail::kNone, 0, 1), "PERF_EVENT_IOC_DISABLE", IoctlArgument::flags, "2.6.31", ""},
    Ioctl{detail::request(detail::kNone, 0, 2), "PERF_EVENT_IOC_REFRESH", IoctlArgument::count, "2.6.31",
          "so many overflows more, then disabled"},
    Ioctl{detail::request(detail::kNone, 0, 3), "PERF_EVENT_IOC_RESET", IoctlArgument::flags, "2.6.31",
          "the count, not the times"},
    Ioctl{detail::request(detail::kWrite, detail::kWord, 4), "PERF_EVENT_IOC_PERIOD", IoctlArgument::u64_in, "2.6.31",
          ""},
    Ioctl{detail::request(detail::kNone, 0, 5), "PERF_EVENT_IOC_SET_OUTPUT", IoctlArgument::descriptor, "2.6.33",
          "records go to another event's ring"},
    Ioctl{detail::request(detail::kWrite, detail::kWord, 6), "PERF_EVENT_IOC_SET_FILTER", IoctlArgument::text_in,
          "2.6.33", "tracepoints; address filters of AUX PMUs"},
    Ioctl{detail::request(detail::kRead, detail::kWord, 7), "PERF_EVENT_IOC_ID", IoctlArgument::u64_out, "3.12", ""},
    Ioctl{detail::request(detail::kWrite, detail::kInt, 8), "PERF_EVENT_IOC_SET_BPF", IoctlArgument::descriptor, "4.1",
          "a BPF program"},
    Ioctl{detail::request(detail::kWrite, detail::kInt, 9), "PERF_EVENT_IOC_PAUSE_OUTPUT", IoctlArgument::on_off, "4.7",
          ""},
    Ioctl{detail::request(detail::kRead | detail::kWrite, detail::kWord, 10), "PERF_EVENT_IOC_QUERY_BPF",
          IoctlArgument::query_out, "4.16", ""},
    Ioctl{detail::request(detail::kWrite, detail::kWord, 11), "PERF_EVENT_IOC_MODIFY_ATTRIBUTES",
          IoctlArgument::attr_in, "4.17", "breakpoints only"},
};

inline constexpr std::array kIoctlFlags{
    Constant{1, "PERF_IOC_FLAG_GROUP"},
};

/// perf_event_open(2), "flags"; others are refused with EINVAL.
inline constexpr std::array kOpenFlags{
    Bit{0, "PERF_FLAG_FD_NO_GROUP", "group_fd is for its output only"},
    Bit{1, "PERF_FLAG_FD_OUTPUT", "records go to group_fd's ring"},
    Bit{2, "PERF_FLAG_PID_CGROUP", "pid is the descriptor of a cgroup's directory"},
    Bit{3, "PERF_FLAG_FD_CLOEXEC", "closed at exec"},
};

}  // namespace anyperf::abi
