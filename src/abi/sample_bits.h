// sample_bits.h: bits of attr.sample_type and attr.read_format (perf_event_open(2); uapi/linux/perf_event.h,
// Linux 6.18). The rows are in the order of the fields in a SAMPLE record and in the answer of read(2). A row of
// sample_type also has the shape of its field, and whether the field is part of the sample id of other records.
#pragma once

#include <array>

#include "abi/constant.h"

namespace anyperf::abi {

/// The layout of a field of a SAMPLE record.
enum class SampleShape : std::uint8_t {
    u64,        ///< one 64-bit number
    two_u32,    ///< two 32-bit numbers
    read,       ///< what read(2) returns, according to read_format
    u64_list,   ///< u64 n, u64[n]
    raw,        ///< u32 size, bytes[size]; size + 4 is a multiple of 8
    branches,   ///< u64 n, [u64 hw index], {from, to, flags}[n], [u64 counters[n]]
    registers,  ///< u64 abi; if it is not 0, a u64 for each bit of sample_regs_user or sample_regs_intr
    stack,      ///< u64 size, bytes[size]; if size is not 0, u64 bytes that are valid
    bytes,      ///< u64 size, bytes[size]
};

/// A bit of attr.sample_type.
struct SampleBit {
    unsigned bit;
    std::string_view name;
    std::string_view since;  ///< the first Linux that has it
    SampleShape shape;
    /// With sample_id_all, also part of struct sample_id at the end of the other records. There the fields have the
    /// order of these rows too, but IDENTIFIER is last, so that a reader finds it from the end.
    bool in_sample_id;
    std::string_view meaning;

    constexpr std::uint64_t mask() const { return 1ull << bit; }
};

/// In the order of the fields of a SAMPLE record (perf_output_sample()), which is not the order of the bits.
inline constexpr std::array kSampleBits{
    SampleBit{16, "PERF_SAMPLE_IDENTIFIER", "3.12", SampleShape::u64, true, "id, at a fixed position"},
    SampleBit{0, "PERF_SAMPLE_IP", "2.6.31", SampleShape::u64, false, "instruction pointer"},
    SampleBit{1, "PERF_SAMPLE_TID", "2.6.31", SampleShape::two_u32, true, "process and thread"},
    SampleBit{2, "PERF_SAMPLE_TIME", "2.6.31", SampleShape::u64, true, "time in ns, of clockid's clock"},
    SampleBit{3, "PERF_SAMPLE_ADDR", "2.6.31", SampleShape::u64, false, "data address"},
    SampleBit{6, "PERF_SAMPLE_ID", "2.6.31", SampleShape::u64, true, "id; an inherited event has its parent's"},
    SampleBit{9, "PERF_SAMPLE_STREAM_ID", "2.6.31", SampleShape::u64, true, "id of its own"},
    SampleBit{7, "PERF_SAMPLE_CPU", "2.6.31", SampleShape::two_u32, true, "CPU, and 0"},
    SampleBit{8, "PERF_SAMPLE_PERIOD", "2.6.31", SampleShape::u64, false, "events since the last sample"},
    SampleBit{4, "PERF_SAMPLE_READ", "2.6.31", SampleShape::read, false, "counts of the event or group"},
    SampleBit{5, "PERF_SAMPLE_CALLCHAIN", "2.6.31", SampleShape::u64_list, false, "callers"},
    SampleBit{10, "PERF_SAMPLE_RAW", "2.6.31", SampleShape::raw, false, "the tracepoint's own record"},
    SampleBit{11, "PERF_SAMPLE_BRANCH_STACK", "3.4", SampleShape::branches, false, "recent branches"},
    SampleBit{12, "PERF_SAMPLE_REGS_USER", "3.7", SampleShape::registers, false, "registers in user mode"},
    SampleBit{13, "PERF_SAMPLE_STACK_USER", "3.7", SampleShape::stack, false, "a copy of the user stack"},
    SampleBit{14, "PERF_SAMPLE_WEIGHT", "3.10", SampleShape::u64, false, "cost of the event, such as a latency"},
    SampleBit{24, "PERF_SAMPLE_WEIGHT_STRUCT", "5.12", SampleShape::u64, false, "costs: 32, 16 and 16 bits"},
    SampleBit{15, "PERF_SAMPLE_DATA_SRC", "3.10", SampleShape::u64, false, "where data came from: data_source.h"},
    SampleBit{17, "PERF_SAMPLE_TRANSACTION", "3.13", SampleShape::u64, false, "why a transaction was aborted"},
    SampleBit{18, "PERF_SAMPLE_REGS_INTR", "3.19", SampleShape::registers, false, "registers at the interrupt"},
    SampleBit{19, "PERF_SAMPLE_PHYS_ADDR", "4.14", SampleShape::u64, false, "physical data address"},
    SampleBit{21, "PERF_SAMPLE_CGROUP", "5.7", SampleShape::u64, false, "id of the cgroup"},
    SampleBit{22, "PERF_SAMPLE_DATA_PAGE_SIZE", "5.11", SampleShape::u64, false, "size of the data's page"},
    SampleBit{23, "PERF_SAMPLE_CODE_PAGE_SIZE", "5.11", SampleShape::u64, false, "size of the instruction's page"},
    SampleBit{20, "PERF_SAMPLE_AUX", "5.5", SampleShape::bytes, false, "a piece of the AUX area"},
};

/// Bits without a meaning in any kernel yet. The kernel refuses an attr that sets one with EINVAL.
inline constexpr std::uint64_t kReservedSampleBits = [] {
    std::uint64_t known = 0;
    for (const SampleBit& row : kSampleBits) known |= row.mask();
    return ~known;
}();
static_assert(kReservedSampleBits == ~((1ull << 25) - 1));

/// A bit of attr.read_format.
struct ReadBit {
    unsigned bit;
    std::string_view name;
    std::string_view since;
    std::string_view meaning;
    constexpr std::uint64_t mask() const { return 1ull << bit; }
};

/// In the order of the fields that read(2) returns. GROUP is not a field: it turns the result into a list of the group.
inline constexpr std::array kReadFormatBits{
    ReadBit{0, "PERF_FORMAT_TOTAL_TIME_ENABLED", "2.6.31", "ns enabled"},
    ReadBit{1, "PERF_FORMAT_TOTAL_TIME_RUNNING", "2.6.31", "ns on a counter"},
    ReadBit{2, "PERF_FORMAT_ID", "2.6.31", "id of each event"},
    ReadBit{3, "PERF_FORMAT_GROUP", "2.6.31", "all events of the group"},
    ReadBit{4, "PERF_FORMAT_LOST", "6.0", "samples lost because the ring was full"},
};
static_assert(is_ascending(kReadFormatBits, &ReadBit::bit));

/// The mask of a bit of sample_type: sample("PERF_SAMPLE_READ"). A name that is not in the table does not compile.
consteval std::uint64_t sample(std::string_view name) {
    return bit(kSampleBits, name);
}

/// The mask of a bit of read_format.
consteval std::uint64_t read_format(std::string_view name) {
    return bit(kReadFormatBits, name);
}

}  // namespace anyperf::abi
