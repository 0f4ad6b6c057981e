// cpu_events.h: the encodings that the virtual cpu PMU accepts: generic events and cache events of the kernel, and raw
// codes of a Skylake (names as in data/events, tables/x86/skl).
//
// An encoding that is not in these tables is refused. Linux opens any raw code, and one that the CPU does not have
// usually counts 0; such a 0 looks like a result.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "pmu/cpu/quantities.h"

namespace anyperf::pmu {

/// The bits of a raw config that select the event: event 0-7, umask 8-15, edge 18, inv 23, cmask 24-31, as in the
/// kernel's X86_RAW_EVENT_MASK. Other bits are ignored, because libpfm sets some of them. So is `any` (bit 21), which
/// adds the other hyperthread of the core: the presented CPU has one thread in each core.
inline constexpr std::uint64_t kEncodingBits = 0xff84'ffff;

/// A raw code. kRawEvents is sorted by event code, then umask. Several codes may mean one quantity.
struct RawRow {
    std::uint64_t config;  ///< within kEncodingBits
    std::string_view name;
    Quantity quantity;
};

inline constexpr std::array kRawEvents{
    RawRow{0x0000'0100, "INST_RETIRED:ANY (fixed)", Quantity::instructions},
    RawRow{0x0000'0200, "CPU_CLK_UNHALTED:THREAD (fixed)", Quantity::cycles},
    RawRow{0x0000'0300, "CPU_CLK_UNHALTED:REF_TSC (fixed)", Quantity::reference_cycles},
    RawRow{0x0000'0108, "DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK", Quantity::load_walks},
    RawRow{0x0000'0208, "DTLB_LOAD_MISSES:WALK_COMPLETED_4K", Quantity::load_walks},
    RawRow{0x0000'0e08, "DTLB_LOAD_MISSES:WALK_COMPLETED", Quantity::load_walks},
    RawRow{0x0000'2008, "DTLB_LOAD_MISSES:STLB_HIT", Quantity::load_stlb_hits},
    RawRow{0x0000'010d, "INT_MISC:RECOVERY_CYCLES", Quantity::recovery_cycles},
    RawRow{0x0000'010e, "UOPS_ISSUED:ANY", Quantity::issued_slots},
    RawRow{0x0000'2124, "L2_RQSTS:DEMAND_DATA_RD_MISS", Quantity::l2_data_read_misses},
    RawRow{0x0000'2224, "L2_RQSTS:DEMAND_RFO_MISS", Quantity::l2_ownership_read_misses},
    RawRow{0x0000'2424, "L2_RQSTS:CODE_RD_MISS", Quantity::l2_code_read_misses},
    RawRow{0x0000'2724, "L2_RQSTS:ALL_DEMAND_MISS", Quantity::l2_demand_misses},
    RawRow{0x0000'3824, "L2_RQSTS:PF_MISS", Quantity::l2_prefetch_misses},
    RawRow{0x0000'3f24, "L2_RQSTS:MISS", Quantity::l2_misses},
    RawRow{0x0000'c124, "L2_RQSTS:DEMAND_DATA_RD_HIT", Quantity::l2_data_read_hits},
    RawRow{0x0000'c224, "L2_RQSTS:DEMAND_RFO_HIT", Quantity::l2_ownership_read_hits},
    RawRow{0x0000'c424, "L2_RQSTS:CODE_RD_HIT", Quantity::l2_code_read_hits},
    RawRow{0x0000'd824, "L2_RQSTS:PF_HIT", Quantity::l2_prefetch_hits},
    RawRow{0x0000'e124, "L2_RQSTS:ALL_DEMAND_DATA_RD", Quantity::l2_data_reads},
    RawRow{0x0000'e224, "L2_RQSTS:ALL_RFO", Quantity::l2_ownership_reads},
    RawRow{0x0000'e424, "L2_RQSTS:ALL_CODE_RD", Quantity::l2_code_reads},
    RawRow{0x0000'e724, "L2_RQSTS:ALL_DEMAND_REFERENCES", Quantity::l2_demand},
    RawRow{0x0000'f824, "L2_RQSTS:ALL_PF", Quantity::l2_prefetches},
    RawRow{0x0000'ff24, "L2_RQSTS:REFERENCES", Quantity::l2_references},
    RawRow{0x0000'412e, "LONGEST_LAT_CACHE:MISS", Quantity::l3_misses},
    RawRow{0x0000'4f2e, "LONGEST_LAT_CACHE:REFERENCE", Quantity::l3_references},
    RawRow{0x0000'003c, "CPU_CLK_UNHALTED:THREAD_P", Quantity::cycles},
    RawRow{0x0000'013c, "CPU_CLK_UNHALTED:REF_XCLK", Quantity::bus_cycles},
    RawRow{0x0000'023c, "CPU_CLK_UNHALTED:ONE_THREAD_ACTIVE", Quantity::bus_cycles},
    RawRow{0x0000'0149, "DTLB_STORE_MISSES:MISS_CAUSES_A_WALK", Quantity::store_walks},
    RawRow{0x0000'0249, "DTLB_STORE_MISSES:WALK_COMPLETED_4K", Quantity::store_walks},
    RawRow{0x0000'0e49, "DTLB_STORE_MISSES:WALK_COMPLETED", Quantity::store_walks},
    RawRow{0x0000'2049, "DTLB_STORE_MISSES:STLB_HIT", Quantity::store_stlb_hits},
    RawRow{0x0000'0151, "L1D:REPLACEMENT", Quantity::l1d_replacements},
    RawRow{0x0000'0283, "ICACHE_64B:IFTAG_MISS", Quantity::l1i_misses},
    RawRow{0x0000'0185, "ITLB_MISSES:MISS_CAUSES_A_WALK", Quantity::code_walks},
    RawRow{0x0000'0285, "ITLB_MISSES:WALK_COMPLETED_4K", Quantity::code_walks},
    RawRow{0x0000'0e85, "ITLB_MISSES:WALK_COMPLETED", Quantity::code_walks},
    RawRow{0x0000'2085, "ITLB_MISSES:STLB_HIT", Quantity::code_stlb_hits},
    RawRow{0x0000'019c, "IDQ_UOPS_NOT_DELIVERED:CORE", Quantity::slots_without_code},
    RawRow{0x0400'019c, "IDQ_UOPS_NOT_DELIVERED:CYCLES_0_UOPS_DELIV_CORE", Quantity::frontend_stalls},
    RawRow{0x0000'01a2, "RESOURCE_STALLS:ANY", Quantity::backend_stalls},
    RawRow{0x0400'04a3, "CYCLE_ACTIVITY:STALLS_TOTAL", Quantity::stalls},
    RawRow{0x0500'05a3, "CYCLE_ACTIVITY:STALLS_L2_MISS", Quantity::l2_miss_stalls},
    RawRow{0x0600'06a3, "CYCLE_ACTIVITY:STALLS_L3_MISS", Quantity::l3_miss_stalls},
    RawRow{0x0c00'0ca3, "CYCLE_ACTIVITY:STALLS_L1D_MISS", Quantity::l1d_miss_stalls},
    RawRow{0x1400'14a3, "CYCLE_ACTIVITY:STALLS_MEM_ANY", Quantity::data_stalls},
    RawRow{0x0000'40a6, "EXE_ACTIVITY:BOUND_ON_STORES", Quantity::store_stalls},
    RawRow{0x0000'01b7, "OFFCORE_RESPONSE_0", Quantity::offcore_requests},
    RawRow{0x0000'01bb, "OFFCORE_RESPONSE_1", Quantity::offcore_requests},
    RawRow{0x0000'00c0, "INST_RETIRED:ANY_P", Quantity::instructions},
    RawRow{0x0000'01c0, "INST_RETIRED:PREC_DIST", Quantity::instructions},
    RawRow{0x0a80'01c0, "INST_RETIRED:TOTAL_CYCLES", Quantity::cycles},
    RawRow{0x0000'02c2, "UOPS_RETIRED:RETIRE_SLOTS", Quantity::issued_slots},
    RawRow{0x0000'00c4, "BR_INST_RETIRED:ALL_BRANCHES", Quantity::branches},
    RawRow{0x0000'01c4, "BR_INST_RETIRED:CONDITIONAL", Quantity::conditional},
    RawRow{0x0000'02c4, "BR_INST_RETIRED:NEAR_CALL", Quantity::calls},
    RawRow{0x0000'04c4, "BR_INST_RETIRED:ALL_BRANCHES_PEBS", Quantity::branches},
    RawRow{0x0000'08c4, "BR_INST_RETIRED:NEAR_RETURN", Quantity::returns},
    RawRow{0x0000'10c4, "BR_INST_RETIRED:NOT_TAKEN", Quantity::not_taken},
    RawRow{0x0000'20c4, "BR_INST_RETIRED:NEAR_TAKEN", Quantity::taken},
    RawRow{0x0000'40c4, "BR_INST_RETIRED:FAR_BRANCH", Quantity::far},
    RawRow{0x0000'00c5, "BR_MISP_RETIRED:ALL_BRANCHES", Quantity::branch_misses},
    RawRow{0x0000'01c5, "BR_MISP_RETIRED:CONDITIONAL", Quantity::conditional_misses},
    RawRow{0x0000'04c5, "BR_MISP_RETIRED:ALL_BRANCHES_PEBS", Quantity::branch_misses},
    RawRow{0x0000'08c5, "BR_MISP_RETIRED:RET", Quantity::return_misses},
    RawRow{0x0000'01c7, "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", Quantity::scalar_double},
    RawRow{0x0000'02c7, "FP_ARITH_INST_RETIRED:SCALAR_SINGLE", Quantity::scalar_single},
    RawRow{0x0000'03c7, "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE:SCALAR_SINGLE", Quantity::scalar_arithmetic},
    RawRow{0x0000'04c7, "FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", Quantity::packed_128_double},
    RawRow{0x0000'08c7, "FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", Quantity::packed_128_single},
    RawRow{0x0000'10c7, "FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", Quantity::packed_256_double},
    RawRow{0x0000'18c7, "FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE:256B_PACKED_DOUBLE", Quantity::arithmetic_of_4},
    RawRow{0x0000'20c7, "FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", Quantity::packed_256_single},
    RawRow{0x0000'3cc7,
           "FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE:128B_PACKED_SINGLE:256B_PACKED_DOUBLE:256B_PACKED_SINGLE",
           Quantity::packed_arithmetic_of_256},
    RawRow{0x0000'3fc7,
           "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE:SCALAR_SINGLE:128B_PACKED_DOUBLE:128B_PACKED_SINGLE:256B_PACKED_DOUBLE:"
           "256B_PACKED_SINGLE",
           Quantity::all_arithmetic_of_256},
    RawRow{0x0000'40c7, "FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE", Quantity::packed_512_double},
    RawRow{0x0000'55c7, "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE:128B_PACKED_DOUBLE:256B_PACKED_DOUBLE:512B_PACKED_DOUBLE",
           Quantity::double_arithmetic},
    RawRow{0x0000'60c7, "FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE:512B_PACKED_DOUBLE", Quantity::arithmetic_of_8},
    RawRow{0x0000'80c7, "FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", Quantity::packed_512_single},
    RawRow{0x0000'aac7, "FP_ARITH_INST_RETIRED:SCALAR_SINGLE:128B_PACKED_SINGLE:256B_PACKED_SINGLE:512B_PACKED_SINGLE",
           Quantity::single_arithmetic},
    RawRow{0x0000'fcc7,
           "FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE:128B_PACKED_SINGLE:256B_PACKED_DOUBLE:256B_PACKED_SINGLE:512B_"
           "PACKED_DOUBLE:512B_PACKED_SINGLE",
           Quantity::packed_arithmetic},
    RawRow{0x0000'ffc7,
           "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE:SCALAR_SINGLE:128B_PACKED_DOUBLE:128B_PACKED_SINGLE:256B_PACKED_DOUBLE:"
           "256B_PACKED_SINGLE:512B_PACKED_DOUBLE:512B_PACKED_SINGLE",
           Quantity::all_arithmetic},
    RawRow{0x0000'01cd, "MEM_TRANS_RETIRED:LOAD_LATENCY", Quantity::loads},
    RawRow{0x0000'41d0, "MEM_INST_RETIRED:SPLIT_LOADS", Quantity::split_loads},
    RawRow{0x0000'42d0, "MEM_INST_RETIRED:SPLIT_STORES", Quantity::split_stores},
    RawRow{0x0000'81d0, "MEM_INST_RETIRED:ALL_LOADS", Quantity::loads},
    RawRow{0x0000'82d0, "MEM_INST_RETIRED:ALL_STORES", Quantity::stores},
    RawRow{0x0000'83d0, "MEM_INST_RETIRED:ANY", Quantity::memory},
    RawRow{0x0000'01d1, "MEM_LOAD_RETIRED:L1_HIT", Quantity::loads_from_l1},
    RawRow{0x0000'02d1, "MEM_LOAD_RETIRED:L2_HIT", Quantity::loads_from_l2},
    RawRow{0x0000'04d1, "MEM_LOAD_RETIRED:L3_HIT", Quantity::loads_from_l3},
    RawRow{0x0000'08d1, "MEM_LOAD_RETIRED:L1_MISS", Quantity::loads_missing_l1},
    RawRow{0x0000'10d1, "MEM_LOAD_RETIRED:L2_MISS", Quantity::loads_missing_l2},
    RawRow{0x0000'20d1, "MEM_LOAD_RETIRED:L3_MISS", Quantity::loads_from_memory},
    RawRow{0x0000'02d2, "MEM_LOAD_L3_HIT_RETIRED:XSNP_HIT", Quantity::loads_from_clean_peer},
    RawRow{0x0000'04d2, "MEM_LOAD_L3_HIT_RETIRED:XSNP_HITM", Quantity::loads_from_modified_peer},
    RawRow{0x0000'08d2, "MEM_LOAD_L3_HIT_RETIRED:XSNP_NONE", Quantity::loads_unshared_l3},
};

/// An event of PERF_TYPE_HARDWARE. Its index in kGenericEvents is attr.config.
struct GenericRow {
    std::string_view name;             ///< as in abi::kHardware
    std::optional<Quantity> quantity;  ///< none: the PMU lacks the event, ENOENT
    std::string_view sysfs_name;       ///< its file in events/; empty: it has none
    std::uint64_t config;              ///< the raw code of the same event, for that file
    std::string_view note;
};

inline constexpr std::array kGenericEvents{
    GenericRow{"PERF_COUNT_HW_CPU_CYCLES", Quantity::cycles, "cpu-cycles", 0x003c, ""},
    GenericRow{"PERF_COUNT_HW_INSTRUCTIONS", Quantity::instructions, "instructions", 0x00c0, ""},
    GenericRow{"PERF_COUNT_HW_CACHE_REFERENCES", Quantity::l3_references, "cache-references", 0x4f2e, ""},
    GenericRow{"PERF_COUNT_HW_CACHE_MISSES", Quantity::l3_misses, "cache-misses", 0x412e, ""},
    GenericRow{"PERF_COUNT_HW_BRANCH_INSTRUCTIONS", Quantity::branches, "branch-instructions", 0x00c4, ""},
    GenericRow{"PERF_COUNT_HW_BRANCH_MISSES", Quantity::branch_misses, "branch-misses", 0x00c5, ""},
    GenericRow{"PERF_COUNT_HW_BUS_CYCLES", Quantity::bus_cycles, "bus-cycles", 0x013c, ""},
    GenericRow{"PERF_COUNT_HW_STALLED_CYCLES_FRONTEND", Quantity::frontend_stalls, "stalled-cycles-frontend",
               0x0400'019c, "a Skylake lacks it"},
    GenericRow{"PERF_COUNT_HW_STALLED_CYCLES_BACKEND", Quantity::backend_stalls, "stalled-cycles-backend", 0x0000'01a2,
               "a Skylake lacks it"},
    GenericRow{"PERF_COUNT_HW_REF_CPU_CYCLES", Quantity::reference_cycles, "ref-cycles", 0x0300, ""},
};

/// A file in events/ that is not a generic event.
struct SysfsEventRow {
    std::string_view name;
    std::uint64_t config;
    std::string_view terms;  ///< appended to the terms of config
    std::string_view note;
};
inline constexpr std::array kSysfsEvents{
    SysfsEventRow{"mem-loads", 0x01cd, ",ldlat=3", "with a greater ldlat, loads that take so long by the models"},
    SysfsEventRow{"mem-stores", 0x82d0, "", ""},
};

/// An event of PERF_TYPE_HW_CACHE that can be counted. Any other combination of a cache, an operation and a result is
/// refused: with EINVAL if it is in kInvalidCacheOps, else with ENOENT, as by a PMU that lacks it.
struct CacheRow {
    std::string_view cache, op, result;  ///< as in abi::kCaches, kCacheOps and kCacheResults
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
    CacheRow{"PERF_COUNT_HW_CACHE_L1D", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_MISS",
             Quantity::l1d_replacements, "L1D.REPLACEMENT, as on Skylake: by stores and prefetch, too"},
    CacheRow{"PERF_COUNT_HW_CACHE_L1I", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_MISS",
             Quantity::l1i_misses, "ICACHE_64B.IFTAG_MISS, as on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_LL", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_ACCESS",
             Quantity::l3_loads, "OFFCORE_RESPONSE on Skylake: demand reads of data"},
    CacheRow{"PERF_COUNT_HW_CACHE_LL", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_MISS",
             Quantity::l3_load_misses, "OFFCORE_RESPONSE on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_LL", "PERF_COUNT_HW_CACHE_OP_WRITE", "PERF_COUNT_HW_CACHE_RESULT_ACCESS",
             Quantity::l3_stores, "OFFCORE_RESPONSE on Skylake: requests for ownership"},
    CacheRow{"PERF_COUNT_HW_CACHE_LL", "PERF_COUNT_HW_CACHE_OP_WRITE", "PERF_COUNT_HW_CACHE_RESULT_MISS",
             Quantity::l3_store_misses, "OFFCORE_RESPONSE on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_DTLB", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_MISS",
             Quantity::load_walks, "DTLB_LOAD_MISSES.WALK_COMPLETED, as on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_DTLB", "PERF_COUNT_HW_CACHE_OP_WRITE", "PERF_COUNT_HW_CACHE_RESULT_MISS",
             Quantity::store_walks, "DTLB_STORE_MISSES.WALK_COMPLETED, as on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_ITLB", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_ACCESS",
             Quantity::code_stlb_hits, "ITLB_MISSES.STLB_HIT, as on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_ITLB", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_MISS",
             Quantity::code_walks, "ITLB_MISSES.WALK_COMPLETED, as on Skylake"},
    CacheRow{"PERF_COUNT_HW_CACHE_BPU", "PERF_COUNT_HW_CACHE_OP_READ", "PERF_COUNT_HW_CACHE_RESULT_MISS",
             Quantity::branch_misses, "BR_MISP_RETIRED.ALL_BRANCHES, as on Skylake"},
};

/// An operation that makes no sense for this cache: EINVAL, whatever the result. These are the entries with the value
/// -1 in the kernel's table skl_hw_cache_event_ids (arch/x86/events/intel/core.c).
struct InvalidCacheOpRow {
    std::string_view cache, op;
};
inline constexpr std::array kInvalidCacheOps{
    InvalidCacheOpRow{"PERF_COUNT_HW_CACHE_L1I", "PERF_COUNT_HW_CACHE_OP_WRITE"},
    InvalidCacheOpRow{"PERF_COUNT_HW_CACHE_ITLB", "PERF_COUNT_HW_CACHE_OP_WRITE"},
    InvalidCacheOpRow{"PERF_COUNT_HW_CACHE_ITLB", "PERF_COUNT_HW_CACHE_OP_PREFETCH"},
    InvalidCacheOpRow{"PERF_COUNT_HW_CACHE_BPU", "PERF_COUNT_HW_CACHE_OP_WRITE"},
    InvalidCacheOpRow{"PERF_COUNT_HW_CACHE_BPU", "PERF_COUNT_HW_CACHE_OP_PREFETCH"},
};

}  // namespace anyperf::pmu
