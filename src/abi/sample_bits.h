// sample_bits.h: the bits of attr.sample_type and attr.read_format (perf_event_open(2); uapi/linux/perf_event.h of
// Linux 6.18). The one list of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace anyperf::abi {

struct FormatBit {
    unsigned bit;
    std::string_view name;   ///< as in the manual
    std::string_view since;  ///< the Linux that brought it

    constexpr std::uint64_t mask() const { return 1ull << bit; }
};

inline constexpr std::array kSampleBits{
    FormatBit{0, "PERF_SAMPLE_IP", "2.6.31"},
    FormatBit{1, "PERF_SAMPLE_TID", "2.6.31"},
    FormatBit{2, "PERF_SAMPLE_TIME", "2.6.31"},
    FormatBit{3, "PERF_SAMPLE_ADDR", "2.6.31"},
    FormatBit{4, "PERF_SAMPLE_READ", "2.6.31"},
    FormatBit{5, "PERF_SAMPLE_CALLCHAIN", "2.6.31"},
    FormatBit{6, "PERF_SAMPLE_ID", "2.6.31"},
    FormatBit{7, "PERF_SAMPLE_CPU", "2.6.31"},
    FormatBit{8, "PERF_SAMPLE_PERIOD", "2.6.31"},
    FormatBit{9, "PERF_SAMPLE_STREAM_ID", "2.6.31"},
    FormatBit{10, "PERF_SAMPLE_RAW", "2.6.31"},
    FormatBit{11, "PERF_SAMPLE_BRANCH_STACK", "3.4"},
    FormatBit{12, "PERF_SAMPLE_REGS_USER", "3.7"},
    FormatBit{13, "PERF_SAMPLE_STACK_USER", "3.7"},
    FormatBit{14, "PERF_SAMPLE_WEIGHT", "3.10"},
    FormatBit{15, "PERF_SAMPLE_DATA_SRC", "3.10"},
    FormatBit{16, "PERF_SAMPLE_IDENTIFIER", "3.12"},
    FormatBit{17, "PERF_SAMPLE_TRANSACTION", "3.13"},
    FormatBit{18, "PERF_SAMPLE_REGS_INTR", "3.19"},
    FormatBit{19, "PERF_SAMPLE_PHYS_ADDR", "4.14"},
    FormatBit{20, "PERF_SAMPLE_AUX", "5.5"},
    FormatBit{21, "PERF_SAMPLE_CGROUP", "5.7"},
    FormatBit{22, "PERF_SAMPLE_DATA_PAGE_SIZE", "5.11"},
    FormatBit{23, "PERF_SAMPLE_CODE_PAGE_SIZE", "5.11"},
    FormatBit{24, "PERF_SAMPLE_WEIGHT_STRUCT", "5.12"},
};

inline constexpr std::array kReadFormatBits{
    FormatBit{0, "PERF_FORMAT_TOTAL_TIME_ENABLED", "2.6.31"},
    FormatBit{1, "PERF_FORMAT_TOTAL_TIME_RUNNING", "2.6.31"},
    FormatBit{2, "PERF_FORMAT_ID", "2.6.31"},
    FormatBit{3, "PERF_FORMAT_GROUP", "2.6.31"},
    FormatBit{4, "PERF_FORMAT_LOST", "6.0"},
};

/// The mask of a bit of sample_type: sample("PERF_SAMPLE_READ"). A name that isn't in the table doesn't compile.
consteval std::uint64_t sample(std::string_view name) {
    return std::ranges::find(kSampleBits, name, &FormatBit::name)->mask();
}

/// The mask of a bit of read_format.
consteval std::uint64_t read_format(std::string_view name) {
    return std::ranges::find(kReadFormatBits, name, &FormatBit::name)->mask();
}

static_assert(sample("PERF_SAMPLE_WEIGHT_STRUCT") == 1ull << 24 && read_format("PERF_FORMAT_LOST") == 1 << 4);

}  // namespace anyperf::abi
