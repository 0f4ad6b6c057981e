// cpu_events.h: which encodings the virtual cpu PMU knows: the kernel's generic events and cache events, and raw codes
// of Skylake (names as in data/events, tables/x86/skl). What isn't here isn't counted: it is refused, so that nobody is
// shown a 0 that means nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "pmu/quantities.h"

namespace anyperf::pmu {

/// Bits of a raw config: event 0-7, umask 8-15, edge 18, any 21, inv 23, cmask 24-31. The kernel masks the others away
/// (X86_RAW_EVENT_MASK), whatever libpfm leaves in them. `any` is the other thread of a core, which this CPU lacks.
inline constexpr std::uint64_t kEncodingBits = 0xff84'ffff;

struct RawRow {
    std::uint64_t config;
    std::string_view name;
    Quantity quantity;
};

inline constexpr std::array kRawEvents{
    RawRow{0x0000'0100, "INST_RETIRED:ANY (fixed)", Quantity::instructions},
    RawRow{0x0000'0200, "CPU_CLK_UNHALTED:THREAD (fixed)", Quantity::cycles},
    RawRow{0x0000'0300, "CPU_CLK_UNHALTED:REF_TSC (fixed)", Quantity::reference_cycles},
    RawRow{0x0000'003c, "CPU_CLK_UNHALTED:THREAD_P", Quantity::cycles},
    RawRow{0x0000'013c, "CPU_CLK_UNHALTED:REF_XCLK", Quantity::bus_cycles},
    RawRow{0x0000'023c, "CPU_CLK_UNHALTED:ONE_THREAD_ACTIVE", Quantity::bus_cycles},
    RawRow{0x0000'00c0, "INST_RETIRED:ANY_P", Quantity::instructions},
    RawRow{0x0000'01c0, "INST_RETIRED:PREC_DIST", Quantity::instructions},
    RawRow{0x0a80'01c0, "INST_RETIRED:TOTAL_CYCLES", Quantity::cycles},
    RawRow{0x0000'00c4, "BR_INST_RETIRED:ALL_BRANCHES", Quantity::branches},
    RawRow{0x0000'01c4, "BR_INST_RETIRED:CONDITIONAL", Quantity::conditional},
    RawRow{0x0000'02c4, "BR_INST_RETIRED:NEAR_CALL", Quantity::calls},
    RawRow{0x0000'04c4, "BR_INST_RETIRED:ALL_BRANCHES_PEBS", Quantity::branches},
    RawRow{0x0000'08c4, "BR_INST_RETIRED:NEAR_RETURN", Quantity::returns},
    RawRow{0x0000'10c4, "BR_INST_RETIRED:NOT_TAKEN", Quantity::not_taken},
    RawRow{0x0000'20c4, "BR_INST_RETIRED:NEAR_TAKEN", Quantity::taken},
    RawRow{0x0000'40c4, "BR_INST_RETIRED:FAR_BRANCH", Quantity::far},
    RawRow{0x0000'01cd, "MEM_TRANS_RETIRED:LOAD_LATENCY", Quantity::loads},
    RawRow{0x0000'81d0, "MEM_INST_RETIRED:ALL_LOADS", Quantity::loads},
    RawRow{0x0000'82d0, "MEM_INST_RETIRED:ALL_STORES", Quantity::stores},
    RawRow{0x0000'83d0, "MEM_INST_RETIRED:ANY", Quantity::memory},
};

/// PERF_TYPE_HARDWARE. Without a quantity: the PMU lacks it (ENOENT).
struct GenericRow {
    std::string_view name;  ///< as in abi::kHardware
    std::optional<Quantity> quantity;
    std::string_view sysfs_name;  ///< below events/; empty: not there
    std::uint64_t config;         ///< the raw code that it stands for
    std::string_view note;
};

inline constexpr std::array kGenericEvents{
    GenericRow{"PERF_COUNT_HW_CPU_CYCLES", Quantity::cycles, "cpu-cycles", 0x003c, ""},
    GenericRow{"PERF_COUNT_HW_INSTRUCTIONS", Quantity::instructions, "instructions", 0x00c0, ""},
    GenericRow{"PERF_COUNT_HW_CACHE_REFERENCES", std::nullopt, "", 0, "no model of caches"},
    GenericRow{"PERF_COUNT_HW_CACHE_MISSES", std::nullopt, "", 0, "no model of caches"},
    GenericRow{"PERF_COUNT_HW_BRANCH_INSTRUCTIONS", Quantity::branches, "branch-instructions", 0x00c4, ""},
    GenericRow{"PERF_COUNT_HW_BRANCH_MISSES", std::nullopt, "", 0, "no model of branch prediction"},
    GenericRow{"PERF_COUNT_HW_BUS_CYCLES", Quantity::bus_cycles, "bus-cycles", 0x013c, ""},
    GenericRow{"PERF_COUNT_HW_STALLED_CYCLES_FRONTEND", std::nullopt, "", 0, "nor has it on Skylake"},
    GenericRow{"PERF_COUNT_HW_STALLED_CYCLES_BACKEND", std::nullopt, "", 0, "nor has it on Skylake"},
    GenericRow{"PERF_COUNT_HW_REF_CPU_CYCLES", Quantity::reference_cycles, "ref-cycles", 0x0300, ""},
};

/// Names below events/ that are no generic event.
struct NamedRow {
    std::string_view name;
    std::uint64_t config;
    std::string_view terms;  ///< behind those of config
    std::string_view note;
};
inline constexpr std::array kNamedEvents{
    NamedRow{"mem-loads", 0x01cd, ",ldlat=3", "no model knows latencies: every load is long enough"},
    NamedRow{"mem-stores", 0x82d0, "", ""},
};

/// PERF_TYPE_HW_CACHE: those that can be counted. Any other combination of a cache, an operation and a result is
/// ENOENT, as on a PMU that lacks it, or EINVAL where it is senseless.
struct CacheRow {
    std::string_view cache, op, result;  ///< as in abi::kCaches …
    Quantity quantity;
    std::string_view note;
};

inline constexpr std::array kCacheEvents{
    CacheRow{"PERF_COUNT_HW_CACHE_L1D", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_ACCESS",
             Quantity::loads, "MEM_INST_RETIRED.ALL_LOADS, as on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_L1D", "PERF_COUNT_HW_CACHE_OP_WRITE", "PERF_COUNT_HW_CACHE_RESULT_ACCESS",
             Quantity::stores, "MEM_INST_RETIRED.ALL_STORES, as on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_DTLB", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_ACCESS",
             Quantity::loads, "the same code on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_DTLB", "PERF_COUNT_HW_CACHE_OP_WRITE", "PERF_COUNT_HW_CACHE_RESULT_ACCESS",
             Quantity::stores, "the same code on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_BPU", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_ACCESS",
             Quantity::branches, "BR_INST_RETIRED.ALL_BRANCHES, as on Skylake"},
};

/// A cache that takes no such operation: EINVAL (-1 in the kernel's table of Skylake).
struct SenselessRow {
    std::string_view cache, op;
};
inline constexpr std::array kSenselessCacheEvents{
    SenselessRow{"PERF_COUNT_HW_CACHE_L1I", "PERF_COUNT_HW_CACHE_OP_WRITE"},
    SenselessRow{"PERF_COUNT_HW_CACHE_ITLB", "PERF_COUNT_HW_CACHE_OP_WRITE"},
    SenselessRow{"PERF_COUNT_HW_CACHE_ITLB", "PERF_COUNT_HW_CACHE_OP_PREFETCH"},
    SenselessRow{"PERF_COUNT_HW_CACHE_BPU", "PERF_COUNT_HW_CACHE_OP_WRITE"},
    SenselessRow{"PERF_COUNT_HW_CACHE_BPU", "PERF_COUNT_HW_CACHE_OP_PREFETCH"},
};

}  // namespace anyperf::pmu
