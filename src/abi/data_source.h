// data_source.h: the DATA_SRC word of a sample: what a memory access was and where its data came from
// (perf_event_open(2), "data_src"; union perf_mem_data_src of uapi/linux/perf_event.h, Linux 6.18; mem_region and L0
// are of later versions).
//
// Fields whose values are bits (is_mask) may have several set, for instance PERF_MEM_LVL_L1 | PERF_MEM_LVL_HIT. Most
// fields have a value for "not available" (_NA), which differs from 0.
#pragma once

#include <array>

#include "abi/bit_field.h"

namespace anyperf::abi {

inline constexpr std::array kMemOps{
    Constant{0x01, "PERF_MEM_OP_NA"},     Constant{0x02, "PERF_MEM_OP_LOAD"}, Constant{0x04, "PERF_MEM_OP_STORE"},
    Constant{0x08, "PERF_MEM_OP_PFETCH"}, Constant{0x10, "PERF_MEM_OP_EXEC"},
};
/// The older form of the memory level, with hit or miss. mem_lvl_num below has more levels.
inline constexpr std::array kMemLevels{
    Constant{0x01, "PERF_MEM_LVL_NA"},        Constant{0x02, "PERF_MEM_LVL_HIT"},
    Constant{0x04, "PERF_MEM_LVL_MISS"},      Constant{0x08, "PERF_MEM_LVL_L1"},
    Constant{0x10, "PERF_MEM_LVL_LFB"},       Constant{0x20, "PERF_MEM_LVL_L2"},
    Constant{0x40, "PERF_MEM_LVL_L3"},        Constant{0x80, "PERF_MEM_LVL_LOC_RAM"},
    Constant{0x100, "PERF_MEM_LVL_REM_RAM1"}, Constant{0x200, "PERF_MEM_LVL_REM_RAM2"},
    Constant{0x400, "PERF_MEM_LVL_REM_CCE1"}, Constant{0x800, "PERF_MEM_LVL_REM_CCE2"},
    Constant{0x1000, "PERF_MEM_LVL_IO"},      Constant{0x2000, "PERF_MEM_LVL_UNC"},
};
inline constexpr std::array kMemSnoops{
    Constant{0x01, "PERF_MEM_SNOOP_NA"},   Constant{0x02, "PERF_MEM_SNOOP_NONE"}, Constant{0x04, "PERF_MEM_SNOOP_HIT"},
    Constant{0x08, "PERF_MEM_SNOOP_MISS"}, Constant{0x10, "PERF_MEM_SNOOP_HITM"},
};
inline constexpr std::array kMemLocks{
    Constant{0x01, "PERF_MEM_LOCK_NA"},
    Constant{0x02, "PERF_MEM_LOCK_LOCKED"},
};
inline constexpr std::array kMemTlbs{
    Constant{0x01, "PERF_MEM_TLB_NA"}, Constant{0x02, "PERF_MEM_TLB_HIT"}, Constant{0x04, "PERF_MEM_TLB_MISS"},
    Constant{0x08, "PERF_MEM_TLB_L1"}, Constant{0x10, "PERF_MEM_TLB_L2"},  Constant{0x20, "PERF_MEM_TLB_WK"},
    Constant{0x40, "PERF_MEM_TLB_OS"},
};
inline constexpr std::array kMemLevelNumbers{
    Constant{0x01, "PERF_MEM_LVLNUM_L1"},        Constant{0x02, "PERF_MEM_LVLNUM_L2"},
    Constant{0x03, "PERF_MEM_LVLNUM_L3"},        Constant{0x04, "PERF_MEM_LVLNUM_L4"},
    Constant{0x05, "PERF_MEM_LVLNUM_L2_MHB"},    Constant{0x06, "PERF_MEM_LVLNUM_MSC"},
    Constant{0x07, "PERF_MEM_LVLNUM_L0"},        Constant{0x08, "PERF_MEM_LVLNUM_UNC"},
    Constant{0x09, "PERF_MEM_LVLNUM_CXL"},       Constant{0x0a, "PERF_MEM_LVLNUM_IO"},
    Constant{0x0b, "PERF_MEM_LVLNUM_ANY_CACHE"}, Constant{0x0c, "PERF_MEM_LVLNUM_LFB"},
    Constant{0x0d, "PERF_MEM_LVLNUM_RAM"},       Constant{0x0e, "PERF_MEM_LVLNUM_PMEM"},
    Constant{0x0f, "PERF_MEM_LVLNUM_NA"},
};
inline constexpr std::array kMemRemotes{Constant{0x01, "PERF_MEM_REMOTE_REMOTE"}};
inline constexpr std::array kMemSnoopExtras{
    Constant{0x01, "PERF_MEM_SNOOPX_FWD"},
    Constant{0x02, "PERF_MEM_SNOOPX_PEER"},
};
inline constexpr std::array kMemBlocks{
    Constant{0x01, "PERF_MEM_BLK_NA"},
    Constant{0x02, "PERF_MEM_BLK_DATA"},
    Constant{0x04, "PERF_MEM_BLK_ADDR"},
};
/// How far the data was: from another core of the same node (HOPS_0) to another board (HOPS_3).
inline constexpr std::array kMemHops{
    Constant{0x01, "PERF_MEM_HOPS_0"},
    Constant{0x02, "PERF_MEM_HOPS_1"},
    Constant{0x03, "PERF_MEM_HOPS_2"},
    Constant{0x04, "PERF_MEM_HOPS_3"},
};
inline constexpr std::array kMemRegions{
    Constant{0x01, "PERF_MEM_REGION_RSVD"},        Constant{0x02, "PERF_MEM_REGION_L_SHARE"},
    Constant{0x03, "PERF_MEM_REGION_L_NON_SHARE"}, Constant{0x04, "PERF_MEM_REGION_O_IO"},
    Constant{0x05, "PERF_MEM_REGION_O_SHARE"},     Constant{0x06, "PERF_MEM_REGION_O_NON_SHARE"},
    Constant{0x07, "PERF_MEM_REGION_MMIO"},        Constant{0x08, "PERF_MEM_REGION_MEM0"},
    Constant{0x09, "PERF_MEM_REGION_MEM1"},        Constant{0x0a, "PERF_MEM_REGION_MEM2"},
    Constant{0x0b, "PERF_MEM_REGION_MEM3"},        Constant{0x0c, "PERF_MEM_REGION_MEM4"},
    Constant{0x0d, "PERF_MEM_REGION_MEM5"},        Constant{0x0e, "PERF_MEM_REGION_MEM6"},
    Constant{0x0f, "PERF_MEM_REGION_MEM7"},
};

inline constexpr std::array kDataSourceFields{
    BitField{0, 5, "mem_op", kMemOps, true},           BitField{5, 14, "mem_lvl", kMemLevels, true},
    BitField{19, 5, "mem_snoop", kMemSnoops, true},    BitField{24, 2, "mem_lock", kMemLocks, true},
    BitField{26, 7, "mem_dtlb", kMemTlbs, true},       BitField{33, 4, "mem_lvl_num", kMemLevelNumbers, false},
    BitField{37, 1, "mem_remote", kMemRemotes, false}, BitField{38, 2, "mem_snoopx", kMemSnoopExtras, true},
    BitField{40, 3, "mem_blk", kMemBlocks, true},      BitField{43, 3, "mem_hops", kMemHops, false},
    BitField{46, 5, "mem_region", kMemRegions, false}, BitField{51, 13, "mem_rsvd", {}, false},
};
static_assert(are_contiguous(kDataSourceFields));

}  // namespace anyperf::abi
