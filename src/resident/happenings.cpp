// happenings.cpp: the records are those of pmu/tracepoints.cpp; a row a kind.
#include "resident/happenings.h"

#include <linux/perf_event.h>
#include <sys/resource.h>

#include <array>
#include <utility>

#include "engine/attached.h"
#include "engine/x86_64/guarded_copy.h"
#include "resident/armed.h"
#include "resident/probe_values.h"
#include "resident/raw_record.h"
#include "resident/request.h"
#include "resident/sampling.h"
#include "resident/switches.h"
#include "subsystem/shared/filter.h"

namespace anyperf::resident {

using engine::at_address;
using subsystem::Source;
using Happening = Source::Happening;

namespace {

constexpr std::size_t kLongestName = 512;  ///< of a program: ProcessRecord::exe has no more
constexpr std::size_t kCommBytes = 16;

using Raw = RawRecord;

/// With its NUL.
std::size_t text_bytes(const char* text, std::size_t room) {
    std::size_t length = 0;
    while (length + 1 < room && text[length] != 0) ++length;
    return length + 1;
}

void put_call(Raw& raw, const Source& source, const Occurrence& occurrence) {
    if (source.number == Source::kEveryCall) return raw.put(std::uint64_t{occurrence.call});
    raw.put(occurrence.call);
    raw.put(std::uint32_t{0});
}

void put_call_entered(Raw& raw, const Thread&, const Source& source, const Occurrence& occurrence) {
    put_call(raw, source, occurrence);
    for (std::size_t i = 0; i < source.words && i < 6; ++i) raw.put(occurrence.arguments[i]);
}

void put_call_left(Raw& raw, const Thread&, const Source& source, const Occurrence& occurrence) {
    put_call(raw, source, occurrence);
    raw.put(static_cast<std::int64_t>(occurrence.answer));
}

void put_process_forked(Raw& raw, const Thread& thread, const Source&, const Occurrence& occurrence) {
    constexpr std::size_t kTexts = 24;
    const std::size_t bytes = text_bytes(thread.page.comm, kCommBytes);
    raw.put_place(kTexts, bytes);
    raw.put(thread.tid);
    raw.put_place(kTexts + bytes, bytes);  // a child begins with its parent's name
    raw.put(occurrence.child);
    raw.put(thread.page.comm, bytes);
    raw.put(thread.page.comm, bytes);
}

void put_program_executed(Raw& raw, const Thread& thread, const Source&, const Occurrence&) {
    constexpr std::size_t kTexts = 20;
    const char* const path = thread.engine->program.path;
    const std::size_t bytes = text_bytes(path, kLongestName);
    raw.put_place(kTexts, bytes);
    raw.put(thread.tid);
    raw.put(thread.tid);
    raw.put(path, bytes - 1);
    raw.put('\0');
}

void put_task_ended(Raw& raw, const Thread& thread, const Source&, const Occurrence& occurrence) {
    constexpr std::int32_t kOrdinary = 140;  // less what getpriority(2) says: 20 minus the nice value
    raw.put(thread.page.comm, kCommBytes);
    raw.put(thread.tid);
    raw.put(static_cast<std::int32_t>(kOrdinary - engine::kernel_call(__NR_getpriority, PRIO_PROCESS, 0)));
    raw.put(std::uint32_t{occurrence.whole_process});
}

void put_place_reached(Raw& raw, const Thread& thread, const Source& source, const Occurrence& occurrence) {
    raw.put(occurrence.address);
    put_probe_values(raw, thread, source.record);
}

void put_place_left(Raw& raw, const Thread& thread, const Source& source, const Occurrence& occurrence) {
    raw.put(occurrence.address);
    raw.put(thread.registers.rip);
    put_probe_values(raw, thread, source.record);
}

/// By Happening.
using PutBody = void (*)(Raw&, const Thread&, const Source&, const Occurrence&);
constexpr std::array<PutBody, 8> kBodies{
    nullptr,        put_call_entered,  put_call_left, put_process_forked, put_program_executed,
    put_task_ended, put_place_reached, put_place_left};

bool is_of(const EventPage& event, const Occurrence& occurrence) {
    const Source& source = event.source;
    if (source.kind != Source::Kind::happenings || source.happening != occurrence.what) return false;
    if (is_of_place(source)) return source.number == occurrence.place;
    const bool of_call = occurrence.what == Happening::call_entered || occurrence.what == Happening::call_left;
    return !of_call || source.number == Source::kEveryCall || source.number == occurrence.call;
}

void put_record(Raw& raw, const Thread& thread, const EventPage& event, const Occurrence& occurrence) {
    const bool listed = event.shape.type == PERF_TYPE_TRACEPOINT;  // a uprobe of its own PMU has no number
    raw.put(listed ? static_cast<std::uint16_t>(event.shape.config) : std::uint16_t{0});
    raw.put(std::uint16_t{0});  // common_flags, common_preempt_count: of the kernel's own code
    raw.put(thread.tid);
    kBodies[static_cast<std::size_t>(occurrence.what)](raw, thread, event.source, occurrence);
}

/// Up to the text's end, by what can be read.
std::size_t copy_text(void* to, std::uint64_t address, std::size_t bytes) {
    auto* const text = static_cast<char*>(to);
    for (std::size_t i = 0; i < bytes; ++i) {
        if (!engine::x86_64::guarded_copy(text + i, at_address<const char>(address + i), 1)) return 0;
        if (text[i] == 0) return i + 1;
    }
    return bytes;
}

bool is_wanted(const Thread& thread, const EventPage& event, const Raw& raw) {
    if (event.filter == 0 || event.filter >= kMaximumFilters) return true;
    const subsystem::FilterFacts facts{raw.bytes(), thread.page.comm, thread.page.cpu, copy_text};
    return passes(known_process(*thread.engine)->filters[event.filter], facts);
}

}  // namespace

void tell(Thread& thread, const Occurrence& occurrence) {
    for_each_armed(thread, [&](EventPage& event, EventIndex index) {
        if (!is_of(event, occurrence)) return;
        const bool needs_record = event.filter != 0 || event.sampling != 0;
        Raw raw;
        if (needs_record) put_record(raw, thread, event, occurrence);
        if (needs_record && !is_wanted(thread, event, raw)) return;
        happen(thread, event, index, {raw.bytes(), event.source.in_kernel});
    });
}

}  // namespace anyperf::resident

namespace anyperf::engine::attached {

using resident::Happening;
using resident::is_traced;
using resident::tell;

namespace {

constexpr long kRestart = -512;  ///< -ERESTARTSYS: what the kernel's own code answers where a signal ends a wait

void look_where_it_runs(Thread& thread) {
    resident::tell_if_moved(thread);
    if (thread.page.attention != 0) resident::settle(thread);
}

}  // namespace

void entering_call(Call& call) {
    look_where_it_runs(call.thread);
    if ((call.thread.page.traced & resident::kSwitchesTold) != 0) resident::look_for_switches(call.thread, false);
    // Begun again without having reached the kernel: it has been told of.
    const bool told = std::exchange(call.thread.told_call, 0) == call.next;
    if (!told && is_traced(call.thread, Happening::call_entered))
        tell(call.thread, {.what = Happening::call_entered,
                           .call = static_cast<std::uint32_t>(call.number),
                           .arguments = call.argument});
}

void left_call(Call& call, long answer) {
    look_where_it_runs(call.thread);
    if ((call.thread.page.traced & resident::kSwitchesTold) != 0) resident::look_for_switches(call.thread, true);
    if ((call.thread.page.traced & resident::kCallsSampled) != 0) resident::look_behind_call(call.thread);
    if (answer == kBeginAgain && !call.thread.syscall_restarted) {
        call.thread.told_call = call.next;
        return;
    }
    if (!is_traced(call.thread, Happening::call_left)) return;
    const long told = answer == kBeginAgain ? kRestart : answer;
    call.thread.registers.r[x86_64::rax] = static_cast<std::uint64_t>(told);
    tell(call.thread, {.what = Happening::call_left, .call = static_cast<std::uint32_t>(call.number), .answer = told});
}

}  // namespace anyperf::engine::attached
