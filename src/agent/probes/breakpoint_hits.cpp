// breakpoint_hits.cpp: the engine single-steps an instruction that has a breakpoint or may access watched memory. It
// calls report_execution() before the instruction and report_accesses() after it. report_execution() computes the
// addresses, because the instruction may change the registers that they depend on.
//
// A REP instruction runs in one step. The change of rcx gives its iterations, and each iteration that accesses watched
// memory is reported.
#include "agent/probes/breakpoint_hits.h"

#include <limits>

#include "agent/agent_state.h"
#include "agent/probes/breakpoints.h"
#include "agent/probes/probe_hits.h"
#include "agent/sampling/active_events.h"
#include "agent/sampling/next_instruction.h"
#include "agent/sampling/sampling.h"
#include "engine/trap_flag.h"

namespace anyperf::agent {

namespace {

using engine::x86_64::Access;
using engine::x86_64::Accesses;

/// Memory that a breakpoint or a debug register watches. Both distinguish only "write" and "read or write". An
/// instruction that does both is one hit.
struct Watched {
    std::uint64_t start;
    std::uint64_t bytes;
    bool on_read;
};

bool overlaps(const Watched& watched, const Access& access) {
    const bool of_kind = access.writes || (access.reads && watched.on_read);
    return of_kind && access.address < watched.start + watched.bytes && access.address + access.bytes > watched.start;
}

bool overlaps(const Watched& watched, const Accesses& accesses, std::uint64_t iteration) {
    for (std::uint32_t i = 0; i < accesses.count; ++i) {
        Access access = accesses.of[i];
        access.address += iteration * static_cast<std::uint64_t>(std::int64_t{access.step});
        if (overlaps(watched, access)) return true;
    }
    return false;
}

/// The number of iterations that the instruction has done, from the change of rcx; 1 if it has no REP prefix.
std::uint64_t iterations_of(const Thread& thread) {
    const Accesses& accesses = thread.agent->single_step_accesses;
    if (!accesses.repeats) return 1;
    const std::uint64_t before = thread.agent->registers_before_step.r[engine::x86_64::rcx];
    const std::uint64_t done = before - thread.registers.r[engine::x86_64::rcx];
    // With the prefix 67 the instruction counts in ecx, and its writes clear the upper half of rcx (SDM volume
    // 1, 3.4.1.1).
    return done > std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(done) : done;
}

/// Reports each iteration with an access that overlaps the breakpoint.
void report_each_access(Thread& thread, EventPage& event, EventIndex index, std::uint64_t iterations) {
    const std::uint64_t after = thread.registers.rip;
    const Watched watched{event.shape.bp_addr, event.shape.bp_len, breaks_on_read(event)};
    for (std::uint64_t i = 0; i < iterations; ++i) {
        if (!overlaps(watched, thread.agent->single_step_accesses, i)) continue;
        // Between two iterations, rip is the address of the instruction itself.
        if (i + 1 < iterations) thread.registers.rip = thread.agent->registers_before_step.rip;
        record_event(thread, event, index);
        thread.registers.rip = after;
    }
}

/// Whether one of the iterations accesses the memory.
bool is_accessed(const Thread& thread, const Watched& watched, std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
        if (overlaps(watched, thread.agent->single_step_accesses, i)) return true;
    return false;
}

/// The enabled debug registers for which `is_hit(slot)` holds, as bits of DebugRegisters::status.
template <class IsHit>
std::uint64_t debug_hits(const Thread& thread, IsHit is_hit) {
    std::uint64_t hits = 0;
    for (unsigned i = 0; i < engine::kDebugSlots; ++i) {
        const engine::DebugSlot slot = thread.debug.slot(i);
        if (slot.enabled && is_hit(slot)) hits |= std::uint64_t{1} << i;
    }
    return hits;
}

std::uint64_t executed_slots(const Thread& thread) {
    return debug_hits(thread, [&](const engine::DebugSlot& slot) {
        return slot.kind == engine::DebugSlot::Kind::execution && slot.address == thread.registers.rip;
    });
}

std::uint64_t accessed_slots(const Thread& thread, std::uint64_t iterations) {
    using Kind = engine::DebugSlot::Kind;
    return debug_hits(thread, [&](const engine::DebugSlot& slot) {
        return slot.kind != Kind::execution &&
               is_accessed(thread, {slot.address, slot.bytes, slot.kind == Kind::accesses}, iterations);
    });
}

}  // namespace

void report_execution(Thread& thread) {
    const std::uint64_t pc = thread.registers.rip;
    bool reported = false;
    const bool resumed = (thread.registers.flags & engine::x86_64::kResumeFlag) != 0;
    for_each_active_event(thread, [&](EventPage& event, EventIndex index) {
        if (resumed || !is_breakpoint(event) || !breaks_on_execution(event)) return;
        if (event.shape.bp_addr != pc) return;
        record_event(thread, event, index);
        reported = true;
    });
    if (!resumed && report_probe_hit(thread)) reported = true;
    if (const std::uint64_t hits = resumed ? 0 : executed_slots(thread); hits != 0) {
        engine::queue_trap(thread, hits);
        reported = true;
    }
    if (reported) thread.registers.flags |= engine::x86_64::kResumeFlag;
    thread.agent->registers_before_step = thread.registers;
    thread.agent->single_step_accesses =
        thread.instrumentation.memory_count != 0 ? next_accesses(thread).all : Accesses{};
}

void report_accesses(Thread& thread) {
    if (thread.agent->single_step_accesses.count == 0) return;
    const std::uint64_t iterations = iterations_of(thread);
    for_each_active_event(thread, [&](EventPage& event, EventIndex index) {
        if (is_breakpoint(event) && !breaks_on_execution(event)) report_each_access(thread, event, index, iterations);
    });
    if (const std::uint64_t hits = accessed_slots(thread, iterations); hits != 0) engine::queue_trap(thread, hits);
}

}  // namespace anyperf::agent
