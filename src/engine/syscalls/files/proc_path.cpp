// proc_path.cpp: takes apart paths below /proc.
#include "engine/syscalls/proc_path.h"

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

/// Removes the first name and its slash from `path`, and returns the name.
std::string_view take_name(std::string_view& path) {
    const std::size_t length = path.find('/');
    const std::string_view name = path.substr(0, length);
    path.remove_prefix(length == std::string_view::npos ? path.size() : length + 1);
    return name;
}

}  // namespace

std::int32_t decimal_number(std::string_view text) {
    std::int32_t number = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9' || number > INT32_MAX / 10 - 1) return 0;
        number = number * 10 + (digit - '0');
    }
    return number;
}

std::string_view copy_short_path(std::uint64_t from, char (&room)[kLongestProcPath]) {
    return copy_path(from, room, kLongestProcPath);
}

std::string_view copy_path(std::uint64_t from, char* room, std::size_t bytes) {
    // Byte by byte: the string may end right before memory that can't be read.
    for (std::size_t i = 0; i < bytes; ++i) {
        if (!x86_64::guarded_copy(room + i, at_address<const char>(from + i), 1)) return {};
        if (room[i] == 0) return {room, i};
    }
    return {};
}

ProcPath parse_proc_path(std::string_view path) {
    constexpr std::string_view kProc = "/proc/";
    constexpr std::string_view kTask = "task/";
    if (!path.starts_with(kProc)) return {};
    path.remove_prefix(kProc.size());
    const std::string_view process = take_name(path);
    const bool own = process == "self" || process == "thread-self";
    const std::int32_t pid = own ? static_cast<std::int32_t>(kernel_call(__NR_getpid)) : decimal_number(process);
    if (path.starts_with(kTask)) {
        path.remove_prefix(kTask.size());
        take_name(path);
    }
    return {pid, path};
}

}  // namespace anyperf::engine
