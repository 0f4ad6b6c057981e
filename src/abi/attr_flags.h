// attr_flags.h: the bit fields of perf_event_attr after read_format (perf_event_open(2), "Arguments"; bits 38 and 39:
// uapi/linux/perf_event.h of Linux 6.19).
//
// This is the only list of them in the tree. The rest of the code names a bit by flag("exclude_kernel"), checked at
// compile time, instead of by a constant of its own or by a system header, which may be too old to have it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace anyperf::abi {

/// A bit field of Attr::flags.
struct AttrFlag {
    unsigned bit;            ///< its lowest bit
    unsigned width;          ///< 1, except precise_ip: 2
    std::string_view name;   ///< as in the kernel's header
    std::string_view since;  ///< the first Linux that has it
    std::string_view note;   ///< its effect in a few words, printed next to it

    constexpr std::uint64_t mask() const { return ((1ull << width) - 1) << bit; }
};

inline constexpr std::array kAttrFlags{
    AttrFlag{0, 1, "disabled", "2.6.31", "off until enabled"},
    AttrFlag{1, 1, "inherit", "2.6.31", "children are counted too"},
    AttrFlag{2, 1, "pinned", "2.6.31", "always on a counter, otherwise in error state"},
    AttrFlag{3, 1, "exclusive", "2.6.31", "only its group uses the PMU"},
    AttrFlag{4, 1, "exclude_user", "2.6.31", "user mode is not counted"},
    AttrFlag{5, 1, "exclude_kernel", "2.6.31", "kernel mode is not counted"},
    AttrFlag{6, 1, "exclude_hv", "2.6.31", "the hypervisor is not counted"},
    AttrFlag{7, 1, "exclude_idle", "2.6.31", "the idle task is not counted"},
    AttrFlag{8, 1, "mmap", "2.6.31", "MMAP records for executable mappings"},
    AttrFlag{9, 1, "comm", "2.6.31", "COMM records"},
    AttrFlag{10, 1, "freq", "2.6.31", "sample_freq instead of sample_period"},
    AttrFlag{11, 1, "inherit_stat", "2.6.31", "counts saved for each task (READ records)"},
    AttrFlag{12, 1, "enable_on_exec", "2.6.31", "the next exec enables it"},
    AttrFlag{13, 1, "task", "2.6.32", "FORK and EXIT records"},
    AttrFlag{14, 1, "watermark", "2.6.32", "wakeup_watermark instead of wakeup_events"},
    AttrFlag{15, 2, "precise_ip", "2.6.35", "0 any skid, 1 constant, 2 asked to be zero, 3 must be zero"},
    AttrFlag{17, 1, "mmap_data", "2.6.36", "MMAP records for data mappings"},
    AttrFlag{18, 1, "sample_id_all", "2.6.38", "sample identity after every record"},
    AttrFlag{19, 1, "exclude_host", "3.2", "the host is not counted (virtualization)"},
    AttrFlag{20, 1, "exclude_guest", "3.2", "guests are not counted (virtualization)"},
    AttrFlag{21, 1, "exclude_callchain_kernel", "3.7", "no kernel part in callchains"},
    AttrFlag{22, 1, "exclude_callchain_user", "3.7", "no user part in callchains"},
    AttrFlag{23, 1, "mmap2", "3.16", "MMAP2 instead of MMAP records"},
    AttrFlag{24, 1, "comm_exec", "3.16", "COMM records say when an exec made them"},
    AttrFlag{25, 1, "use_clockid", "4.1", "timestamps are of clockid's clock"},
    AttrFlag{26, 1, "context_switch", "4.3", "SWITCH records"},
    AttrFlag{27, 1, "write_backward", "4.7", "the ring is written from its end"},
    AttrFlag{28, 1, "namespaces", "4.12", "NAMESPACES records"},
    AttrFlag{29, 1, "ksymbol", "5.1", "KSYMBOL records"},
    AttrFlag{30, 1, "bpf_event", "5.1", "BPF_EVENT records"},
    AttrFlag{31, 1, "aux_output", "5.4", "AUX records instead of samples"},
    AttrFlag{32, 1, "cgroup", "5.7", "CGROUP records"},
    AttrFlag{33, 1, "text_poke", "5.8", "TEXT_POKE records"},
    AttrFlag{34, 1, "build_id", "5.12", "build ids in MMAP2 records"},
    AttrFlag{35, 1, "inherit_thread", "5.13", "only threads inherit it, not forked children"},
    AttrFlag{36, 1, "remove_on_exec", "5.13", "an exec removes it from the task"},
    AttrFlag{37, 1, "sigtrap", "5.13", "SIGTRAP at each overflow"},
    AttrFlag{38, 1, "defer_callchain", "6.19", "user callchains follow in CALLCHAIN_DEFERRED records"},
    AttrFlag{39, 1, "defer_output", "6.19", "CALLCHAIN_DEFERRED records of other events too"},
};

// Each row begins at the bit after the previous one, from bit 0: no bit is missing or listed twice.
static_assert([] {
    unsigned next = 0;
    for (const AttrFlag& row : kAttrFlags) {
        if (row.bit != next) return false;
        next += row.width;
    }
    return true;
}());

/// Bits without a meaning in any kernel yet. The kernel refuses an attr that sets one with EINVAL.
inline constexpr std::uint64_t kReservedFlags = ~((kAttrFlags.back().mask() << 1) - 1);

/// The mask of a bit field in Attr::flags. A name that is not in the table does not compile.
consteval std::uint64_t flag(std::string_view name) {
    return std::ranges::find(kAttrFlags, name, &AttrFlag::name)->mask();
}

}  // namespace anyperf::abi
