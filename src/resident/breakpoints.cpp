// breakpoints.cpp: see breakpoints.h. Exact: an execution counts before its instruction runs, an access once the
// instruction has; of a REP each iteration counts, as the CPU's debug registers see them.
#include "resident/breakpoints.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include "engine/attached.h"
#include "engine/watch.h"
#include "resident/armed.h"
#include "resident/next_instruction.h"
#include "resident/probe_hits.h"
#include "resident/sampling.h"

namespace anyperf::resident {

namespace {

using engine::x86_64::Access;
using engine::x86_64::Accesses;

bool executes(const EventPage& event) {
    return (event.shape.bp_type & HW_BREAKPOINT_X) != 0;
}

bool overlaps(const EventPage& event, const Access& access) {
    const bool of_kind = access.writes || (access.reads && (event.shape.bp_type & HW_BREAKPOINT_R) != 0);
    return of_kind && access.address < event.shape.bp_addr + event.shape.bp_len &&
           access.address + access.bytes > event.shape.bp_addr;
}

bool overlaps(const EventPage& event, const Accesses& accesses, std::uint64_t iteration) {
    for (std::uint32_t i = 0; i < accesses.count; ++i) {
        Access access = accesses.of[i];
        access.address += iteration * static_cast<std::uint64_t>(std::int64_t{access.step});
        if (overlaps(event, access)) return true;
    }
    return false;
}

/// Iterations that the instruction has done; 1 where it does not repeat.
std::uint64_t iterations_of(const Thread& thread) {
    const Accesses& accesses = thread.alone_accesses;
    if (!accesses.repeats) return 1;
    return thread.alone_before.r[engine::x86_64::rcx] - thread.registers.r[engine::x86_64::rcx];
}

void tell(Thread& thread, EventPage& event, EventIndex index, std::uint64_t iterations) {
    const std::uint64_t behind = thread.registers.rip;
    for (std::uint64_t i = 0; i < iterations; ++i) {
        if (!overlaps(event, thread.alone_accesses, i)) continue;
        // Between two iterations the CPU stands at the instruction itself.
        if (i + 1 < iterations) thread.registers.rip = thread.alone_pc;
        happen(thread, event, index);
        thread.registers.rip = behind;
    }
}

}  // namespace

bool is_breakpoint(const EventPage& event) {
    return event.shape.type == PERF_TYPE_BREAKPOINT && event.source.kind == subsystem::Source::Kind::happenings;
}

void watch_for(const EventPage& event, engine::Watches& watches) {
    if (!is_breakpoint(event)) return;
    if (executes(event)) {
        if (watches.code_count < engine::Watches::kCode) watches.code[watches.code_count++] = event.shape.bp_addr;
    } else if (watches.memory_count < engine::Watches::kMemory) {
        watches.memory[watches.memory_count++] = {event.shape.bp_addr, event.shape.bp_len,
                                                  (event.shape.bp_type & HW_BREAKPOINT_R) != 0, true};
    }
}

}  // namespace anyperf::resident

namespace anyperf::engine::attached {

using resident::EventIndex;
using resident::EventPage;

void about_to_run(Thread& thread) {
    const std::uint64_t pc = thread.registers.rip;
    bool told = false;
    const bool resumed = (thread.registers.flags & x86_64::kResumeFlag) != 0;
    resident::for_each_armed(thread, [&](EventPage& event, EventIndex index) {
        if (resumed || !resident::is_breakpoint(event) || !resident::executes(event)) return;
        if (event.shape.bp_addr != pc) return;
        resident::happen(thread, event, index);
        told = true;
    });
    if (!resumed && resident::reach_place(thread)) told = true;
    if (told) thread.registers.flags |= x86_64::kResumeFlag;
    thread.alone_before = thread.registers;
    thread.alone_accesses = thread.watches.memory_count != 0 ? resident::next_accesses(thread) : x86_64::Accesses{};
}

void has_run(Thread& thread) {
    if (thread.alone_accesses.count == 0) return;
    const std::uint64_t iterations = resident::iterations_of(thread);
    resident::for_each_armed(thread, [&](EventPage& event, EventIndex index) {
        if (resident::is_breakpoint(event) && !resident::executes(event))
            resident::tell(thread, event, index, iterations);
    });
}

}  // namespace anyperf::engine::attached
