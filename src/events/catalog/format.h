// format.h: the catalog's image as tools/catalog/pack.py writes it: a header of (offset, count) pairs, arrays of the
// rows below, one pool of strings. No pointers, so no relocations: the image is mapped read-only and shared between
// processes. The order of each enumeration is its number in tools/catalog/layout.py; format_test.cpp compares them.
#pragma once

#include <cstdint>

namespace anyperf::catalog {

using Text = std::uint32_t;  ///< offset in the string pool; 0 is the empty string

enum class Encoder : std::uint8_t {
    x86,
    nhm_unc,
    snbep_unc,
    amd64,
    netburst,
    rapl,
    arm,
    code,
    torrent,
    perf,
    perf_raw
};
enum class PerfEncoder : std::uint8_t {
    x86,
    nhm_unc,
    snbep_unc,
    amd64,
    netburst,
    arm,
    arm_unc,
    code_raw,
    code_sysfs,
    s390x,
    perf,
    perf_raw
};
enum class PerfAttrs : std::uint8_t { x86, snbep_unc, amd64, amd64_nb, netburst, arm, no_precise, all, perf };
enum class Modset : std::uint8_t { none, x86, nhm_unc, amd64, netburst, snbep_unc, arm, torrent, perf };
enum class PmuType : std::uint8_t { unknown, core, uncore, os };
enum class Arch : std::uint8_t { x86, i386, arm64, arm, powerpc, s390x, riscv, any };
enum class CpuKind : std::uint8_t { intel, amd, arm, pvr, x86arch, os, sysfs, devicetree, riscv };

namespace pmu_flag {
inline constexpr std::uint32_t raw_umask = 1 << 0, arch_dfl = 1 << 1, no_smpl = 1 << 2, spec = 1 << 3,
                               deprecated = 1 << 4, edge_needs_cmask = 1 << 5, extpebs = 1 << 6, occ = 1 << 7,
                               cbo = 1 << 8, cha = 1 << 9, needs_sysfs = 1 << 10, counts_own_events = 1 << 11,
                               attr_code_filt = 1 << 12,
                               host_events = 1 << 13;  ///< which events there are depends on the machine
}
namespace event_flag {
inline constexpr std::uint32_t fixed = 1 << 0, pebs = 1 << 1, grp_excl = 1 << 2, extra_reg = 1 << 3, frontend = 1 << 4,
                               filt_umask = 1 << 5, force_filt0 = 1 << 6, spec = 1 << 7, deprecated = 1 << 8,
                               code_dup = 1 << 9, no_autoencode = 1 << 10, fallback_gen = 1 << 11, ibs_fetch = 1 << 12,
                               ibs_op = 1 << 13, optional = 1 << 14, limited = 1 << 15, mask_pebs = 1 << 16,
                               limited_masks = 1 << 17;
}
namespace mask_flag {
inline constexpr std::uint16_t dfl = 1 << 0, ncombo = 1 << 1, excl_grp_gt = 1 << 2, excl_grp_but_0 = 1 << 3,
                               grp_dfl_none = 1 << 4, grp_req = 1 << 5, code_override = 1 << 6, ldlat = 1 << 7,
                               fethr = 1 << 8, pebs = 1 << 9, no_mods = 1 << 10, omit = 1 << 11, fixed = 1 << 12,
                               no_autoencode = 1 << 13, limited = 1 << 14, spec = 1 << 15;
}

struct PmuRow {
    Text name, enum_name, vendor;
    Text perf_names;  ///< names one after the other, an empty one last
    std::uint32_t flags, num_fixed;
    std::uint32_t rows;         ///< events of its table that are its own, the first ones
    std::uint32_t event_count;  ///< as pfm_pmu_info_t.nevents reports
    std::uint16_t id, table, first_cpu_rule, cpu_rules;
    PmuType type;
    Encoder encoder;
    PerfEncoder perf_encoder;
    PerfAttrs perf_attrs;
    Modset modset;
    std::uint8_t plm, revision, num_counters, max_encoding;
    Arch arch;
    bool newer;  ///< not in libpfm 4.13
    std::uint8_t name_length;
};
static_assert(sizeof(PmuRow) == 52);

/// One range of CPUs that activates a PMU.
struct CpuRule {
    Text text;  ///< of sysfs, devicetree: what has to be there
    std::uint16_t family, first_model, last_model;
    std::uint8_t first_stepping, last_stepping;
    CpuKind kind;
    std::uint8_t reserved;
    std::uint16_t table;  ///< 1 + table used on these CPUs instead of the PMU's own; 0: its own
};
static_assert(sizeof(CpuRule) == 16);

struct TableRow {
    Text name;
    std::uint32_t first_event, events, first_slot, slots;  ///< slots: a power of two
};
static_assert(sizeof(TableRow) == 20);

struct EventRow {
    std::uint64_t code, counters;
    Text name, equivalent;
    std::uint32_t modifiers, flags, first_mask;
    std::uint32_t detail;  ///< the encoder's own: perf's type, s390x's counter set, P4's selectors, a CPUID bit
    Text sysfs;            ///< `optional` events: the file below event_source/devices that has to exist
    std::uint16_t masks, rule;
    std::uint8_t groups;
    std::uint8_t default_groups;    ///< bit i: group i has a default mask; 0xff: too many groups to say
    std::uint8_t excusable_groups;  ///< the same for grp_dfl_none
    std::uint8_t reserved;
    std::uint32_t name_length;
};
static_assert(sizeof(EventRow) == 56);

struct MaskRow {
    std::uint64_t code;
    Text name;
    std::uint32_t flags;
    std::uint16_t rule;
    std::uint8_t group;
    std::uint8_t reserved;
    std::uint32_t name_length;
};
static_assert(sizeof(MaskRow) == 24);

/// What few events and masks have; equal rows are shared, row 0 is "nothing".
struct RuleRow {
    std::uint64_t filter0, filter1;  ///< low half to set, high half to clear
    std::uint64_t counters;
    Text equivalent;
    std::uint32_t required, hardwired;  ///< modifier bits: must be given; fixed by the mask's own bits
    std::uint16_t model;                ///< PMU id that has it, 0: all
    std::uint8_t from, till;            ///< revisions, 0: no limit
    std::uint8_t required_group;        ///< 255: none
    std::uint8_t reserved[7];
};
static_assert(sizeof(RuleRow) == 48);
inline constexpr std::uint8_t kNoGroup = 255;

struct ModifierRow {
    Text name, key;
    Modset modset;
    std::uint8_t index;
    bool integer;
    std::uint8_t setting_length;
    Text setting;  ///< ":name=", for canonical strings
};
static_assert(sizeof(ModifierRow) == 16);

struct Part {
    std::uint32_t offset, count;
};

struct Header {
    char magic[8];
    Part strings, pmus, cpu_rules, tables, events, masks, rules, modifiers, event_slots, pmu_slots, pmu_of_id, id_names;
    Part mask_hashes;  ///< mask_hash() of each mask's name: a search looks at these bytes, and seldom at names
};

}  // namespace anyperf::catalog
