// record_interests.h: which side-band records an event wants, by the bits of its attr: one table. The caller checks
// whether the event is enabled and counts the task or CPU in question (side_band.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "abi/attr_flags.h"
#include "subsystem/records/record.h"

namespace anyperf::subsystem {

/// The kinds of things that records report. A mapping is reported by MMAP, or by MMAP2 with attr.mmap2.
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
    std::uint64_t any_of;  ///< attr flags, one of which must be set
    std::string_view note;
};

/// FORK and EXIT come with all records about tasks and mappings: a reader of those must know which tasks exist.
inline constexpr std::uint64_t kTaskFlags =
    abi::flag("task") | abi::flag("comm") | abi::flag("mmap") | abi::flag("mmap2") | abi::flag("mmap_data");

inline constexpr std::array kInterests{
    InterestRow{Interest::comm, "PERF_RECORD_COMM", abi::flag("comm"), "comm_exec changes nothing"},
    InterestRow{Interest::fork, "PERF_RECORD_FORK", kTaskFlags, ""},
    InterestRow{Interest::exit, "PERF_RECORD_EXIT", kTaskFlags, ""},
    InterestRow{Interest::executable_mapping, "PERF_RECORD_MMAP", abi::flag("mmap") | abi::flag("mmap2"),
                "mmap2 alone: only while another event has mmap or mmap_data, see enables_mapping_records()"},
    InterestRow{Interest::data_mapping, "PERF_RECORD_MMAP", abi::flag("mmap_data"), "misc has MMAP_DATA"},
    InterestRow{Interest::read_at_exit, "PERF_RECORD_READ", abi::flag("inherit_stat"), "of inherited events"},
    InterestRow{Interest::context_switch, "PERF_RECORD_SWITCH", abi::flag("context_switch"),
                "SWITCH_CPU_WIDE for a cpu-wide event"},
    InterestRow{Interest::namespaces, "PERF_RECORD_NAMESPACES", abi::flag("namespaces"), ""},
    InterestRow{Interest::cgroup, "PERF_RECORD_CGROUP", abi::flag("cgroup"), "of any new cgroup"},
    InterestRow{Interest::kernel_symbol, "PERF_RECORD_KSYMBOL", abi::flag("ksymbol"), ""},
    InterestRow{Interest::bpf_program, "PERF_RECORD_BPF_EVENT", abi::flag("bpf_event"), ""},
    InterestRow{Interest::text_poke, "PERF_RECORD_TEXT_POKE", abi::flag("text_poke"), ""},
};
static_assert(abi::is_ascending(kInterests, &InterestRow::interest));

/// Bits of Subsystem::wanted() beside those of each Interest. An event counts context switches, so each request of a
/// thread must say how many it has had.
inline constexpr std::uint32_t kWantsSwitchCounts = std::uint32_t{1} << 30;
/// Some event has PERF_FLAG_PID_CGROUP, so the host must
/// report when a task moves to another cgroup, although no record reports that.
inline constexpr std::uint32_t kWantsCgroupMoves = std::uint32_t{1} << 31;
static_assert(kInterests.size() < 30);

/// Whether an event with these attr flags wants the record.
constexpr bool requests_record(std::uint64_t attr_flags, Interest interest) {
    return (attr_flags & kInterests[static_cast<std::size_t>(interest)].any_of) != 0;
}

/// A cpu-wide event gets side-band records only if it has one of these flags (is_sb_event() of Linux 6.18). namespaces
/// and cgroup are not among them.
inline constexpr std::uint64_t kCpuSideBandFlags = kTaskFlags | abi::flag("comm_exec") | abi::flag("ksymbol") |
                                                   abi::flag("context_switch") | abi::flag("text_poke") |
                                                   abi::flag("bpf_event");

/// No event gets mapping records unless some event has one of these flags: the kernel counts them in nr_mmap_events.
constexpr bool enables_mapping_records(std::uint64_t attr_flags) {
    return (attr_flags & (abi::flag("mmap") | abi::flag("mmap_data"))) != 0;
}

/// Whether an event with these attr flags gets MMAP2 rather than MMAP.
constexpr bool gets_mmap2(std::uint64_t attr_flags) {
    return (attr_flags & abi::flag("mmap2")) != 0;
}

}  // namespace anyperf::subsystem
