// format.h: the layout of the packed catalog image, as tools/catalog/pack.py writes it at build time.
//
// The image is a Header of (offset, count) pairs, then one array for each row type below, then one pool of
// NUL-terminated strings. Rows refer to each other by index and to strings by offset. The image has no pointers, so it
// needs no relocations: it lies in .rodata and all processes share its pages. Offsets count from the start of the
// image, except Text, which counts from the start of the string pool.
//
//   PmuRow --table--> TableRow --first_event, events--> EventRow --first_mask, masks--> MaskRow
//     |                  |                                  |                              |
//     +-> CpuRule        +-> event_slots (hash table)       +------> RuleRow <-------------+
//
// Several PMUs may share one table, for instance the instances of an uncore box. Fields that few events have are not in
// EventRow but in a RuleRow, and equal RuleRows are stored once.
//
// The order of each enumeration is its number in tools/catalog/layout.py. A difference between the two changes the
// codes that tests/unit/events/catalog/cases_test.cpp compares.
#pragma once

#include <cstdint>

namespace anyperf::catalog {

using Text = std::uint32_t;  ///< offset in the string pool; 0 is the empty string

/// Which rules turn a request into the codes of the PMU: one function each, see kEncoders in codes.cpp.
enum class Encoder : std::uint8_t {
    x86,        ///< Intel core PMUs
    nhm_unc,    ///< uncore of Nehalem and Westmere
    snbep_unc,  ///< uncore boxes of Intel servers from Sandy Bridge on
    amd64,
    netburst,  ///< Pentium 4
    rapl,
    arm,
    code,     ///< the event code alone: POWER, s390x, uncore boxes of ARM
    torrent,  ///< likewise
    perf,     ///< events that the kernel defines
    perf_raw  ///< rNNN
};
/// Which rules turn these codes into perf_event_attr: see kMakers in perf_layer.cpp.
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
/// Which modifiers an event keeps in the perf layers: see removed() in attributes.cpp.
enum class PerfAttrs : std::uint8_t { x86, snbep_unc, amd64, amd64_nb, netburst, arm, no_precise, all, perf };
/// The sets of modifiers in data/events/modifiers.tsv. `perf` is the set of perf itself (u, k, h, period, precise, …),
/// which every PMU can have beside its own set.
enum class Modset : std::uint8_t { none, x86, nhm_unc, amd64, netburst, snbep_unc, arm, torrent, perf };
enum class PmuType : std::uint8_t { unknown, core, uncore, os };
/// The architecture whose build of libpfm lists the PMU.
enum class Arch : std::uint8_t { x86, i386, arm64, arm, powerpc, s390x, riscv, any };
/// What a CpuRule compares: the CPU, whether the kernel has perf events (`os`), or the presence of a name in sysfs or
/// in the device tree.
enum class CpuKind : std::uint8_t { intel, amd, arm, pvr, x86arch, os, sysfs, devicetree, riscv };

/// Column `flags` of data/events/pmus.tsv, which data/events/README.md explains. pack.py computes `host_events`.
namespace pmu_flag {
inline constexpr std::uint32_t raw_umask = 1 << 0;           ///< accepts a raw unit mask, `:0xNN`
inline constexpr std::uint32_t arch_dfl = 1 << 1;            ///< the default PMU of its architecture
inline constexpr std::uint32_t no_smpl = 1 << 2;             ///< can't sample
inline constexpr std::uint32_t spec = 1 << 3;                ///< reports which events are speculative
inline constexpr std::uint32_t deprecated = 1 << 4;          ///< found by its prefix only
inline constexpr std::uint32_t edge_needs_cmask = 1 << 5;    ///< edge (e) is valid only with a counter mask (c)
inline constexpr std::uint32_t extpebs = 1 << 6;             ///< any event may use the sampling buffer (hw_smpl)
inline constexpr std::uint32_t occ = 1 << 7;                 ///< uncore box with occupancy events
inline constexpr std::uint32_t cbo = 1 << 8;                 ///< uncore C-Box
inline constexpr std::uint32_t cha = 1 << 9;                 ///< uncore CHA
inline constexpr std::uint32_t needs_sysfs = 1 << 10;        ///< active only if the kernel has its PMU in sysfs
inline constexpr std::uint32_t counts_own_events = 1 << 11;  ///< libpfm reports the events of this model only
inline constexpr std::uint32_t attr_code_filt = 1 << 12;  ///< a mask without a code reports its filter bits as its code
inline constexpr std::uint32_t host_events = 1 << 13;     ///< which events there are depends on the machine
}  // namespace pmu_flag

/// Properties of an event. pack.py computes `optional` and the three after it, and `host` is set at run time; the
/// others are in the tables.
namespace event_flag {
inline constexpr std::uint32_t fixed = 1 << 0;
inline constexpr std::uint32_t pebs = 1 << 1;         ///< can be sampled precisely
inline constexpr std::uint32_t grp_excl = 1 << 2;     ///< takes masks of one group only
inline constexpr std::uint32_t extra_reg = 1 << 3;    ///< its masks go to a second code, for the extra register
inline constexpr std::uint32_t frontend = 1 << 4;     ///< likewise, with a threshold (fe_thres)
inline constexpr std::uint32_t filt_umask = 1 << 5;   ///< its second code goes to bits 32-63 of config
inline constexpr std::uint32_t force_filt0 = 1 << 6;  ///< has the first filter register even if that is 0
inline constexpr std::uint32_t spec = 1 << 7;         ///< speculative
inline constexpr std::uint32_t deprecated = 1 << 8;
inline constexpr std::uint32_t code_dup = 1 << 9;
inline constexpr std::uint32_t no_autoencode = 1 << 10;  ///< not valid without attributes
inline constexpr std::uint32_t fallback_gen = 1 << 11;
inline constexpr std::uint32_t ibs_fetch = 1 << 12;      ///< AMD instruction-based sampling of fetches
inline constexpr std::uint32_t ibs_op = 1 << 13;         ///< AMD instruction-based sampling of ops
inline constexpr std::uint32_t optional = 1 << 14;       ///< exists only if the file EventRow::sysfs does
inline constexpr std::uint32_t limited = 1 << 15;        ///< some models of the family lack it (RuleRow)
inline constexpr std::uint32_t mask_pebs = 1 << 16;      ///< one of its masks can be sampled precisely
inline constexpr std::uint32_t limited_masks = 1 << 17;  ///< one of its masks is `limited`
inline constexpr std::uint32_t host = 1 << 18;           ///< not in the image: see detection/tracepoint_events.h
}  // namespace event_flag

/// How these combine is explained in mask_groups.h.
namespace mask_flag {
inline constexpr std::uint16_t dfl = 1 << 0;             ///< used when the string names no mask of its group
inline constexpr std::uint16_t ncombo = 1 << 1;          ///< can't be combined with another mask of its group
inline constexpr std::uint16_t excl_grp_gt = 1 << 2;     ///< excludes the masks of all groups with a higher number
inline constexpr std::uint16_t excl_grp_but_0 = 1 << 3;  ///< excludes the masks of all other groups but group 0
inline constexpr std::uint16_t grp_dfl_none = 1 << 4;    ///< its group may stay empty
inline constexpr std::uint16_t grp_req = 1 << 5;         ///< needs a mask of the group RuleRow::required_group, too
inline constexpr std::uint16_t code_override = 1 << 6;   ///< its low byte replaces the event code
inline constexpr std::uint16_t ldlat = 1 << 7;           ///< takes a latency (ldlat)
inline constexpr std::uint16_t fethr = 1 << 8;           ///< takes a front-end threshold (fe_thres)
inline constexpr std::uint16_t pebs = 1 << 9;            ///< can be sampled precisely
inline constexpr std::uint16_t no_mods = 1 << 10;        ///< takes no modifiers
inline constexpr std::uint16_t omit = 1 << 11;           ///< AMD: a group with such masks only may stay empty
inline constexpr std::uint16_t fixed = 1 << 12;
inline constexpr std::uint16_t no_autoencode = 1 << 13;  ///< not valid without other attributes
inline constexpr std::uint16_t limited = 1 << 14;        ///< some models of the family lack it (RuleRow)
inline constexpr std::uint16_t spec = 1 << 15;           ///< speculative
inline constexpr std::uint32_t host = 1 << 16;           ///< not in the image: see detection/tracepoint_events.h
}  // namespace mask_flag

/// A PMU of some CPU: `skl`, `skx_unc_cha3`, `perf`. In the order in which an unprefixed name is looked for.
struct PmuRow {
    Text name;       ///< the prefix: "skl"
    Text enum_name;  ///< of pfm_pmu_t: "PFM_PMU_INTEL_SKL"
    Text vendor;
    Text perf_names;  ///< names in sysfs, one after the other, an empty one last; the first that exists is used
    std::uint32_t flags, num_fixed;
    std::uint32_t rows;         ///< how many events of its table it has: the first ones
    std::uint32_t event_count;  ///< as pfm_pmu_info_t.nevents reports
    std::uint16_t id;           ///< the value of pfm_pmu_t
    std::uint16_t table;        ///< index in tables(); 0xffff: none
    std::uint16_t first_cpu_rule, cpu_rules;
    PmuType type;
    Encoder encoder;
    PerfEncoder perf_encoder;
    PerfAttrs perf_attrs;
    Modset modset;
    std::uint8_t plm;           ///< privilege levels that it distinguishes (PFM_PLM bits)
    std::uint8_t revision;      ///< AMD: compared with RuleRow::first_revision and last_revision
    std::uint8_t num_counters;  ///< as reported by libpfm, like max_encoding
    std::uint8_t max_encoding;
    Arch arch;
    bool newer;  ///< libpfm 4.13 does not have it
    std::uint8_t name_length;
};
static_assert(sizeof(PmuRow) == 52);

/// One range of CPUs that have a PMU. A PMU is present if one of its rules matches.
struct CpuRule {
    Text text;                              ///< kinds sysfs and devicetree: the name that must exist
    std::uint16_t family;                   ///< ARM: the implementer; POWER and others: unused
    std::uint16_t first_model, last_model;  ///< inclusive; ARM: the part, POWER: the PVR version
    std::uint8_t first_stepping, last_stepping;
    CpuKind kind;
    std::uint8_t reserved;
    std::uint16_t table;  ///< 1 + index of the table to use on these CPUs; 0: the table of the PMU
};
static_assert(sizeof(CpuRule) == 16);

/// A list of events, with the part of `event_slots` that is its hash table.
struct TableRow {
    Text name;
    std::uint32_t first_event, events, first_slot, slots;  ///< slots is a power of two
};
static_assert(sizeof(TableRow) == 20);

/// An event. Its position in the table is its private index, the lower part of libpfm's event number.
struct EventRow {
    std::uint64_t code;      ///< meaning by encoder: data/events/README.md, "Codes"
    std::uint64_t counters;  ///< bit i: programmable counter i can count it; bit 32 + i: fixed counter i
    Text name;
    Text equivalent;          ///< the event string that this name is an alias of; empty: it is not an alias
    std::uint32_t modifiers;  ///< bit i: takes modifier i of the PMU's set
    std::uint32_t flags, first_mask;
    std::uint32_t detail;           ///< meaning by encoder: perf type, s390x counter set, P4 selectors, CPUID bit
    Text sysfs;                     ///< `optional` events: the file below event_source/devices that must exist
    std::uint16_t masks;            ///< how many, from first_mask on
    std::uint16_t rule;             ///< index of its RuleRow
    std::uint8_t groups;            ///< how many groups of masks
    std::uint8_t default_groups;    ///< bit i: group i has a default mask; 0xff: too many groups for a bit set
    std::uint8_t excusable_groups;  ///< bit i: group i has a grp_dfl_none mask; 0xff likewise
    std::uint8_t reserved;
    std::uint32_t name_length;
};
static_assert(sizeof(EventRow) == 56);

/// A unit mask: one choice in one group of its event.
struct MaskRow {
    std::uint64_t code;  ///< ORed into the register; meaning by encoder, as EventRow::code
    Text name;
    std::uint32_t flags;
    std::uint16_t rule;  ///< index of its RuleRow
    std::uint8_t group;
    std::uint8_t reserved;
    std::uint32_t name_length;
};
static_assert(sizeof(MaskRow) == 24);

/// Properties that few events and masks have. Equal rows are shared; row 0 has no property.
struct RuleRow {
    std::uint64_t filter0, filter1;              ///< uncore filter registers: bits 0-31 to set, 32-63 to clear
    std::uint64_t counters;                      ///< as EventRow::counters
    Text equivalent;                             ///< masks: the attributes that this name is an alias of
    std::uint32_t required;                      ///< bit i: the string must give modifier i
    std::uint32_t hardwired;                     ///< bit i: the code of the mask fixes modifier i
    std::uint16_t model;                         ///< the PMU id that has it; 0: every PMU of the table
    std::uint8_t first_revision, last_revision;  ///< inclusive; 0: no limit
    std::uint8_t required_group;                 ///< for grp_req; kNoGroup: none
    std::uint8_t reserved[7];
};
static_assert(sizeof(RuleRow) == 48);
inline constexpr std::uint8_t kNoGroup = 255;

/// A modifier: NAME=VALUE after an event.
struct ModifierRow {
    Text name;  ///< as it is typed: "c"
    Text key;   ///< as the tables of data/events name it
    Modset modset;
    std::uint8_t index;
    bool integer;  ///< takes a number; else it is a flag
    std::uint8_t setting_length;
    Text setting;  ///< ":name=", for canonical strings
};
static_assert(sizeof(ModifierRow) == 16);

/// An array in the image: its offset in bytes, and how many elements it has.
struct Part {
    std::uint32_t offset, count;
};

/// The beginning of the image. *_slots are hash tables: open addressing, linear probing, at most half full; a slot is 1
/// + index, 0 is free.
struct Header {
    char magic[8];  ///< "anyperf1"
    Part strings, pmus, cpu_rules, tables, events, masks, rules, modifiers, event_slots, pmu_slots, pmu_of_id, id_names;
    Part mask_hashes;  ///< mask_hash() of each name: a search compares these bytes, then only few names
};

}  // namespace anyperf::catalog
