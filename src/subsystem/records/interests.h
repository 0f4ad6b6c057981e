// interests.h: which records an event gets, from the bits of its attr. One table; that the event is enabled and counts
// the task or CPU where something happens is for the caller to see to.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "abi/attr_flags.h"
#include "subsystem/records/record.h"

namespace anyperf::subsystem {

/// What may be told by a record. Mappings come in two sorts, told by MMAP, or by MMAP2 with attr.mmap2.
enum class Interest : std::uint8_t {
    comm,
    fork,
    exit,
    executable_mapping,
    data_mapping,
    read_at_exit,
    context_switch,
    namespaces,
    cgroup,
    kernel_symbol,
    bpf_program,
    text_poke,
};

struct InterestRow {
    Interest interest;
    std::string_view record;
    std::uint64_t any_of;  ///< attr flags
    std::string_view note;
};

/// FORK and EXIT go with all that is told of tasks and of their memory: a reader of the one needs the other.
inline constexpr std::uint64_t kTaskFlags =
    abi::flag("task") | abi::flag("comm") | abi::flag("mmap") | abi::flag("mmap2") | abi::flag("mmap_data");

inline constexpr std::array kInterests{
    InterestRow{Interest::comm, "PERF_RECORD_COMM", abi::flag("comm"), "comm_exec changes nothing"},
    InterestRow{Interest::fork, "PERF_RECORD_FORK", kTaskFlags, ""},
    InterestRow{Interest::exit, "PERF_RECORD_EXIT", kTaskFlags, ""},
    InterestRow{Interest::executable_mapping, "PERF_RECORD_MMAP", abi::flag("mmap") | abi::flag("mmap2"),
                "mmap2 alone: only while another event asks for mappings, see any_maps()"},
    InterestRow{Interest::data_mapping, "PERF_RECORD_MMAP", abi::flag("mmap_data"), "misc has MMAP_DATA"},
    InterestRow{Interest::read_at_exit, "PERF_RECORD_READ", abi::flag("inherit_stat"), "of inherited events"},
    InterestRow{Interest::context_switch, "PERF_RECORD_SWITCH", abi::flag("context_switch"),
                "SWITCH_CPU_WIDE for an event of a CPU"},
    InterestRow{Interest::namespaces, "PERF_RECORD_NAMESPACES", abi::flag("namespaces"), ""},
    InterestRow{Interest::cgroup, "PERF_RECORD_CGROUP", abi::flag("cgroup"), "of any cgroup that anybody makes"},
    InterestRow{Interest::kernel_symbol, "PERF_RECORD_KSYMBOL", abi::flag("ksymbol"), ""},
    InterestRow{Interest::bpf_program, "PERF_RECORD_BPF_EVENT", abi::flag("bpf_event"), ""},
    InterestRow{Interest::text_poke, "PERF_RECORD_TEXT_POKE", abi::flag("text_poke"), ""},
};
static_assert(abi::in_order(kInterests, &InterestRow::interest));

/// Whether an event with these attr flags gets the record.
constexpr bool wants(std::uint64_t attr_flags, Interest interest) {
    return (attr_flags & kInterests[static_cast<std::size_t>(interest)].any_of) != 0;
}

/// Of the events of a CPU those with one of these are told anything (is_sb_event() of Linux 6.18): namespaces and
/// cgroup are not among them.
inline constexpr std::uint64_t kToldOfCpu = kTaskFlags | abi::flag("comm_exec") | abi::flag("ksymbol") |
                                            abi::flag("context_switch") | abi::flag("text_poke") |
                                            abi::flag("bpf_event");

/// Whether the event is one of those without which nobody is told of mappings (nr_mmap_events of the kernel).
constexpr bool any_maps(std::uint64_t attr_flags) {
    return (attr_flags & (abi::flag("mmap") | abi::flag("mmap_data"))) != 0;
}

/// What of a mapping's two records it gets.
constexpr bool gets_mmap2(std::uint64_t attr_flags) {
    return (attr_flags & abi::flag("mmap2")) != 0;
}

}  // namespace anyperf::subsystem
