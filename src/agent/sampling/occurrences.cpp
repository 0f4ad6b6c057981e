// occurrences.cpp: writes the records of occurrences, by a function for each kind, in the layouts that
// pmu/tracing/tracepoint_table.cpp declares to programs.
//
// Programs parse these records by the format files of their tracepoints, which the run presents. So the layout here and
// the fields in tracepoint_table.cpp are two views of one thing: a change of one without the other gives wrong values
// and no error. Each record begins with the common fields (type, flags, preempt count, pid); kBodies has a function for
// the rest. A __data_loc field is a word with offset and length of a text that follows the fixed fields.
//
// Only an event with a filter or a period needs the record. Most events only count, so no record is written for them.
#include "agent/sampling/occurrences.h"

#include <sys/resource.h>

#include <array>

#include "abi/event_ids.h"
#include "agent/probes/probe_values.h"
#include "agent/sampling/active_events.h"
#include "agent/sampling/raw_record.h"
#include "agent/sampling/sampling.h"
#include "engine/shown_ids.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "subsystem/shared/filter.h"

namespace anyperf::agent {

using engine::at_address;
using subsystem::Source;
using OccurrenceKind = Source::OccurrenceKind;

namespace {

constexpr std::size_t kLongestName = 512;  ///< of a program's path, in its record
constexpr std::size_t kCommBytes = 16;

using Raw = RawRecord;

/// Length of a text in a field of `room` bytes, with its NUL.
std::size_t text_bytes(const char* text, std::size_t room) {
    std::size_t length = 0;
    while (length + 1 < room && text[length] != 0) ++length;
    return length + 1;
}

void put_syscall_number(Raw& raw, const Source& source, const Occurrence& occurrence) {
    if (source.number == Source::kEverySyscall) return raw.put(std::uint64_t{occurrence.call});
    raw.put(occurrence.call);
    raw.put(std::uint32_t{0});
}

void put_syscall_entered(Raw& raw, const Thread&, const Source& source, const Occurrence& occurrence) {
    put_syscall_number(raw, source, occurrence);
    for (std::size_t i = 0; i < source.syscall_arguments && i < 6; ++i) raw.put(occurrence.arguments[i]);
}

void put_syscall_returned(Raw& raw, const Thread&, const Source& source, const Occurrence& occurrence) {
    put_syscall_number(raw, source, occurrence);
    raw.put(static_cast<std::int64_t>(occurrence.answer));
}

void put_process_forked(Raw& raw, const Thread& thread, const Source&, const Occurrence& occurrence) {
    // The texts begin after the fixed fields, of which the common ones are a part.
    constexpr std::size_t kTexts = 24;
    const std::size_t bytes = text_bytes(thread.page.comm, kCommBytes);
    raw.put_data_loc(kTexts, bytes);
    raw.put(engine::turns::shown_tid(thread));
    raw.put_data_loc(kTexts + bytes, bytes);  // a child begins with its parent's name
    raw.put(occurrence.child);
    raw.put(thread.page.comm, bytes);
    raw.put(thread.page.comm, bytes);
}

void put_program_executed(Raw& raw, const Thread& thread, const Source&, const Occurrence&) {
    // The text begins after the fixed fields. It is the path, cut to kLongestName.
    constexpr std::size_t kTexts = 20;
    const char* const path = thread.engine->program.path;
    const std::size_t bytes = text_bytes(path, kLongestName);
    raw.put_data_loc(kTexts, bytes);
    raw.put(engine::turns::shown_tid(thread));
    raw.put(engine::turns::shown_tid(thread));
    raw.put(path, bytes - 1);
    raw.put('\0');
}

void put_task_ended(Raw& raw, const Thread& thread, const Source&, const Occurrence& occurrence) {
    // The field is the kernel's priority, 120 + nice. The system call getpriority returns 20 - nice (getpriority(2)).
    constexpr std::int32_t kOrdinary = 140;
    raw.put(thread.page.comm, kCommBytes);
    raw.put(engine::turns::shown_tid(thread));
    raw.put(static_cast<std::int32_t>(kOrdinary - engine::kernel_call(__NR_getpriority, PRIO_PROCESS, 0)));
    raw.put(std::uint32_t{occurrence.whole_process});
}

void put_probe_reached(Raw& raw, const Thread& thread, const Source& source, const Occurrence& occurrence) {
    raw.put(occurrence.address);
    put_probe_values(raw, thread, source.record);
}

void put_probe_returned(Raw& raw, const Thread& thread, const Source& source, const Occurrence& occurrence) {
    raw.put(occurrence.address);
    raw.put(thread.registers.rip);
    put_probe_values(raw, thread, source.record);
}

/// Writes the part of a record after its common fields. kBodies is indexed by OccurrenceKind; `none` has no record.
using PutBody = void (*)(Raw&, const Thread&, const Source&, const Occurrence&);
constexpr std::array<PutBody, 8> kBodies{
    nullptr,        put_syscall_entered, put_syscall_returned, put_process_forked, put_program_executed,
    put_task_ended, put_probe_reached,   put_probe_returned};

/// Whether the event counts this occurrence if it passes the event's filter.
bool matches(const EventPage& event, const Occurrence& occurrence) {
    const Source& source = event.source;
    if (source.kind != Source::Kind::occurrences || source.occurrence_kind != occurrence.what) return false;
    if (is_uprobe(source)) return source.number == occurrence.place;
    const bool of_call =
        occurrence.what == OccurrenceKind::syscall_entered || occurrence.what == OccurrenceKind::syscall_returned;
    return !of_call || source.number == Source::kEverySyscall || source.number == occurrence.call;
}

void put_record(Raw& raw, const Thread& thread, const EventPage& event, const Occurrence& occurrence) {
    const bool listed =
        event.shape.type == abi::kTypeTracepoint;  // a uprobe of the uprobe PMU has no tracepoint number
    raw.put(listed ? static_cast<std::uint16_t>(event.shape.config) : std::uint16_t{0});
    raw.put(std::uint16_t{0});  // common_flags, common_preempt_count: they describe the kernel's own code
    raw.put(engine::turns::shown_tid(thread));
    kBodies[static_cast<std::size_t>(occurrence.what)](raw, thread, event.source, occurrence);
}

/// FilterFacts::copy_text. Copies a text up to and with its NUL. Returns its length; 0 if it cannot be read.
std::size_t copy_text(void* to, std::uint64_t address, std::size_t bytes) {
    auto* const text = static_cast<char*>(to);
    for (std::size_t i = 0; i < bytes; ++i) {
        if (!engine::x86_64::guarded_copy(text + i, at_address<const char>(address + i), 1)) return 0;
        if (text[i] == 0) return i + 1;
    }
    return bytes;
}

bool passes_filter(const Thread& thread, const EventPage& event, const Raw& raw) {
    if (event.filter == 0 || event.filter >= run::kMaximumFilters) return true;
    const subsystem::FilterFacts facts{raw.bytes(), thread.page.comm, thread.page.cpu, copy_text};
    return passes(existing_process(*thread.engine)->filters[event.filter], facts);
}

}  // namespace

void report_occurrence(Thread& thread, const Occurrence& occurrence) {
    for_each_active_event(thread, [&](EventPage& event, EventIndex index) {
        if (!matches(event, occurrence)) return;
        const bool needs_record = event.filter != 0 || event.sampling != 0;
        Raw raw;
        if (needs_record) put_record(raw, thread, event, occurrence);
        if (needs_record && !passes_filter(thread, event, raw)) return;
        record_event(thread, event, index, {raw.bytes(), event.source.in_kernel});
    });
}

}  // namespace anyperf::agent
