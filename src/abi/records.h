// records.h: the types of records in the ring and the values of their fields (perf_event_open(2), "MMAP layout";
// uapi/linux/perf_event.h of Linux 6.18, CALLCHAIN_DEFERRED of 6.19). The fields of a SAMPLE record are in
// sample_bits.h; subsystem/records has the layouts of the other records.
#pragma once

#include <array>

#include "abi/constant.h"

namespace anyperf::abi {

/// header.type.
inline constexpr std::array kRecordTypes{
    Constant{1, "PERF_RECORD_MMAP"},
    Constant{2, "PERF_RECORD_LOST"},
    Constant{3, "PERF_RECORD_COMM"},
    Constant{4, "PERF_RECORD_EXIT"},
    Constant{5, "PERF_RECORD_THROTTLE"},
    Constant{6, "PERF_RECORD_UNTHROTTLE"},
    Constant{7, "PERF_RECORD_FORK"},
    Constant{8, "PERF_RECORD_READ"},
    Constant{9, "PERF_RECORD_SAMPLE"},
    Constant{10, "PERF_RECORD_MMAP2"},
    Constant{11, "PERF_RECORD_AUX"},
    Constant{12, "PERF_RECORD_ITRACE_START"},
    Constant{13, "PERF_RECORD_LOST_SAMPLES"},
    Constant{14, "PERF_RECORD_SWITCH"},
    Constant{15, "PERF_RECORD_SWITCH_CPU_WIDE"},
    Constant{16, "PERF_RECORD_NAMESPACES"},
    Constant{17, "PERF_RECORD_KSYMBOL"},
    Constant{18, "PERF_RECORD_BPF_EVENT"},
    Constant{19, "PERF_RECORD_CGROUP"},
    Constant{20, "PERF_RECORD_TEXT_POKE"},
    Constant{21, "PERF_RECORD_AUX_OUTPUT_HW_ID"},
    Constant{22, "PERF_RECORD_CALLCHAIN_DEFERRED"},
};
static_assert(is_ascending(kRecordTypes, &Constant::value));

/// header.misc, bits 0 to 2: the mode that the CPU was in.
inline constexpr std::uint16_t kCpuModeMask = 7;
inline constexpr std::array kCpuModes{
    Constant{0, "PERF_RECORD_MISC_CPUMODE_UNKNOWN"},
    Constant{1, "PERF_RECORD_MISC_KERNEL"},
    Constant{2, "PERF_RECORD_MISC_USER"},
    Constant{3, "PERF_RECORD_MISC_HYPERVISOR"},
    Constant{4, "PERF_RECORD_MISC_GUEST_KERNEL"},
    Constant{5, "PERF_RECORD_MISC_GUEST_USER"},
};

/// A bit of header.misc whose meaning depends on the record's type; the same bit has several names.
struct MiscBit {
    unsigned bit;
    std::string_view name;
    std::string_view records;  ///< the types of records that have it

    constexpr std::uint64_t mask() const { return 1ull << bit; }
};
inline constexpr std::array kMiscBits{
    MiscBit{12, "PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT", "MMAP, MMAP2 that perf made"},
    MiscBit{13, "PERF_RECORD_MISC_MMAP_DATA", "MMAP, MMAP2"},
    MiscBit{13, "PERF_RECORD_MISC_COMM_EXEC", "COMM"},
    MiscBit{13, "PERF_RECORD_MISC_FORK_EXEC", "FORK that perf made"},
    MiscBit{13, "PERF_RECORD_MISC_SWITCH_OUT", "SWITCH, SWITCH_CPU_WIDE"},
    MiscBit{14, "PERF_RECORD_MISC_EXACT_IP", "SAMPLE"},
    MiscBit{14, "PERF_RECORD_MISC_SWITCH_OUT_PREEMPT", "SWITCH, SWITCH_CPU_WIDE"},
    MiscBit{14, "PERF_RECORD_MISC_MMAP_BUILD_ID", "MMAP2"},
    MiscBit{15, "PERF_RECORD_MISC_EXT_RESERVED", "all; in perf.data's BUILD_ID: the size byte is valid"},
};

/// Markers among the addresses of a callchain: the addresses after one belong to this context. Each is a negative
/// number as a u64; PERF_CONTEXT_MAX is the lowest value that a marker may have.
inline constexpr std::array kCallchainContexts{
    Constant{static_cast<std::uint64_t>(-32), "PERF_CONTEXT_HV"},
    Constant{static_cast<std::uint64_t>(-128), "PERF_CONTEXT_KERNEL"},
    Constant{static_cast<std::uint64_t>(-512), "PERF_CONTEXT_USER"},
    Constant{static_cast<std::uint64_t>(-640), "PERF_CONTEXT_USER_DEFERRED"},
    Constant{static_cast<std::uint64_t>(-2048), "PERF_CONTEXT_GUEST"},
    Constant{static_cast<std::uint64_t>(-2176), "PERF_CONTEXT_GUEST_KERNEL"},
    Constant{static_cast<std::uint64_t>(-2560), "PERF_CONTEXT_GUEST_USER"},
    Constant{static_cast<std::uint64_t>(-4095), "PERF_CONTEXT_MAX"},
};

/// `flags` of an AUX record. Bits 8 to 15 are the format of the trace.
inline constexpr std::array kAuxFlags{
    Bit{0, "PERF_AUX_FLAG_TRUNCATED", "cut to fit"},
    Bit{1, "PERF_AUX_FLAG_OVERWRITE", "a snapshot of overwrite mode"},
    Bit{2, "PERF_AUX_FLAG_PARTIAL", "has gaps"},
    Bit{3, "PERF_AUX_FLAG_COLLISION", "collided with another sample"},
};

/// `ksym_type` and `flags` of a KSYMBOL record.
inline constexpr std::array kKsymbolTypes{
    Constant{0, "PERF_RECORD_KSYMBOL_TYPE_UNKNOWN"},
    Constant{1, "PERF_RECORD_KSYMBOL_TYPE_BPF"},
    Constant{2, "PERF_RECORD_KSYMBOL_TYPE_OOL"},
};
inline constexpr std::array kKsymbolFlags{Bit{0, "PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER", "the symbol is removed"}};

/// `type` of a BPF_EVENT record.
inline constexpr std::array kBpfEventTypes{
    Constant{0, "PERF_BPF_EVENT_UNKNOWN"},
    Constant{1, "PERF_BPF_EVENT_PROG_LOAD"},
    Constant{2, "PERF_BPF_EVENT_PROG_UNLOAD"},
};

/// The TRANSACTION word of a sample: why a hardware transaction was aborted. Its upper half is the abort code.
inline constexpr std::array kTransactionBits{
    Bit{0, "PERF_TXN_ELISION", "from lock elision"},      Bit{1, "PERF_TXN_TRANSACTION", "from a transaction"},
    Bit{2, "PERF_TXN_SYNC", "caused by the instruction"}, Bit{3, "PERF_TXN_ASYNC", "caused by something else"},
    Bit{4, "PERF_TXN_RETRY", "may succeed on retry"},     Bit{5, "PERF_TXN_CONFLICT", "memory conflict"},
    Bit{6, "PERF_TXN_CAPACITY_WRITE", "too many writes"}, Bit{7, "PERF_TXN_CAPACITY_READ", "too many reads"},
};
inline constexpr unsigned kTransactionAbortShift = 32;

}  // namespace anyperf::abi
