// process_status.h: /proc/PID/status, as far as rights to measure depend on it. proc(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

struct ProcessStatus {
    std::string name;
    char state = '?';  ///< 'R', 'S', 'Z' …; 'Z' and 'X' have exited
    std::uint32_t real_uid = 0;
    std::uint32_t effective_uid = 0;
    std::uint64_t permitted = 0;                 ///< capabilities, bit N is capability N
    std::uint64_t effective = 0;                 ///< capabilities
    std::uint64_t bounding = ~std::uint64_t{0};  ///< capabilities that it could ever get
    bool no_new_privileges = false;
    int seccomp_mode = 0;     ///< 0 none, 1 strict, 2 filter
    int seccomp_filters = 0;  ///< how many are stacked; 0 on kernels before 5.9, which don't tell
};

/// `process` as a name in /proc: "self", "1234". Empty where there is no such process, or /proc isn't mounted.
std::optional<ProcessStatus> process_status(const Root& root, std::string_view process);

}  // namespace anyperf::host
