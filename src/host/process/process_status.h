// process_status.h: the lines of /proc/PID/status that decide which processes may be measured, and by whom (proc(5)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// A field keeps its default if the kernel does not write its line.
struct ProcessStatus {
    std::string name;  ///< the command's name, at most 15 characters
    char state = '?';  ///< 'R', 'S', 'Z' …; a process in 'Z' or 'X' has exited
    std::uint32_t real_uid = 0;
    std::uint32_t effective_uid = 0;
    std::uint64_t permitted = 0;                 ///< capabilities; bit N is capability N
    std::uint64_t effective = 0;                 ///< capabilities
    std::uint64_t bounding = ~std::uint64_t{0};  ///< capabilities that it and its children can ever have
    bool no_new_privileges = false;
    int seccomp_mode = 0;     ///< 0 none, 1 strict, 2 filter
    int seccomp_filters = 0;  ///< installed filters; 0 on kernels before 5.9, which don't report them
};

/// `process` is a name in /proc: "self" or "1234". A thread's id works, too. Empty if there is no such process or /proc
/// is not mounted.
std::optional<ProcessStatus> process_status(const Root& root, std::string_view process);

}  // namespace anyperf::host
