// function_range.h: addresses of Python frames in call chains. Readers of recordings know code by address ranges with
// names (MMAP records). A Python function has no machine code, so it gets a range of addresses that no process has:
// above the memory of user mode, and below 2^53, so that JavaScript's numbers can hold it. The record that names the
// range has the function's first line as the offset in its file. So an address in the range is a line of the source.
//
// The address of a frame is one more than that of its line, as a caller's return address is after its call.
//
// Freestanding.
#pragma once

#include <cstdint>
#include <string_view>

namespace anyperf::python {

inline constexpr std::uint64_t kFirstRange = std::uint64_t{1} << 52;
inline constexpr std::uint64_t kRangeBytes = std::uint64_t{1} << 20;  ///< so many lines can a function have

/// The name of a range is kRangePrefix, the function's name, a colon, the file, kRangeSuffix. CPython gives names like
/// this one to the functions of its perf maps (Doc/howto/perf_profiling.rst of CPython 3.12). Readers take a name in
/// brackets for one of the kernel's, which has no file.
inline constexpr std::string_view kRangePrefix = "[py::";
inline constexpr std::string_view kRangeSuffix = "]";

/// The range of the function with that number in its process.
constexpr std::uint64_t range_start(std::uint32_t number) {
    return kFirstRange + number * kRangeBytes;
}

/// The address of a frame at `line` of a function that begins at line `first`. A line out of the range is shown as the
/// first one.
constexpr std::uint64_t frame_address(std::uint32_t number, std::int64_t line, std::int64_t first) {
    const std::int64_t lines = line - first;
    const bool fits = lines >= 0 && lines < static_cast<std::int64_t>(kRangeBytes) - 1;
    return range_start(number) + 1 + static_cast<std::uint64_t>(fits ? lines : 0);
}

}  // namespace anyperf::python
