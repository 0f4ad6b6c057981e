// tasks.cpp: the bodies of COMM, FORK, EXIT, NAMESPACES, SWITCH and ITRACE_START, field by field as perf_event_open(2)
// lays them out. write_record() (shared/ring.h) adds the header's size and the trailer, which depend on the event.
#include "subsystem/records/tasks.h"

namespace anyperf::subsystem {
namespace {

// Bits of the header's misc. The same bit means another thing in each kind of record (PERF_RECORD_MISC_* in the
// manual).
constexpr std::uint16_t kCommExec = 1u << 13;
constexpr std::uint16_t kSwitchOut = 1u << 13;
constexpr std::uint16_t kSwitchOutPreempt = 1u << 14;

/// The bits of misc for the direction of a switch, and for a task that was preempted.
constexpr std::uint16_t misc_of(SwitchDirection direction) {
    switch (direction) {
        case SwitchDirection::in: return 0;
        case SwitchDirection::out: return kSwitchOut;
        case SwitchDirection::preempted: return kSwitchOut | kSwitchOutPreempt;
    }
    return 0;
}

/// FORK and EXIT have the same layout: pid, ppid, tid, ptid, time.
Record family_record(std::uint32_t type, PidAndTid task, PidAndTid parent, std::uint64_t time) {
    return Record{type}.half(task.pid).half(parent.pid).half(task.tid).half(parent.tid).word(time);
}

}  // namespace

Record comm_record(PidAndTid task, std::string_view name, bool exec) {
    const std::uint16_t misc = exec ? kCommExec : 0;
    return Record{record_type("PERF_RECORD_COMM"), misc}.half(task.pid).half(task.tid).name(name);
}

Record fork_record(PidAndTid child, PidAndTid parent, std::uint64_t time) {
    return family_record(record_type("PERF_RECORD_FORK"), child, parent, time);
}

Record exit_record(PidAndTid task, PidAndTid parent, std::uint64_t time) {
    return family_record(record_type("PERF_RECORD_EXIT"), task, parent, time);
}

Record namespaces_record(PidAndTid task, const NamespaceLinks& links) {
    Record record{record_type("PERF_RECORD_NAMESPACES")};
    record.half(task.pid).half(task.tid).word(links.size());
    for (const NamespaceLink& link : links) record.word(link.device).word(link.inode);
    return record;
}

Record switch_record(SwitchDirection direction) {
    return Record{record_type("PERF_RECORD_SWITCH"), misc_of(direction)};
}

Record cpu_switch_record(SwitchDirection direction, PidAndTid other) {
    return Record{record_type("PERF_RECORD_SWITCH_CPU_WIDE"), misc_of(direction)}.half(other.pid).half(other.tid);
}

Record itrace_start_record(PidAndTid task) {
    return Record{record_type("PERF_RECORD_ITRACE_START")}.half(task.pid).half(task.tid);
}

}  // namespace anyperf::subsystem
