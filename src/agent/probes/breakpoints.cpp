#include "agent/probes/breakpoints.h"

#include "abi/event_ids.h"

namespace anyperf::agent {

namespace {

constexpr auto kReads = abi::value_of(abi::kBreakpointTypes, "HW_BREAKPOINT_R");
constexpr auto kExecutes = abi::value_of(abi::kBreakpointTypes, "HW_BREAKPOINT_X");

}  // namespace

bool is_breakpoint(const EventPage& event) {
    return event.shape.type == abi::kTypeBreakpoint && event.source.kind == subsystem::Source::Kind::occurrences;
}

bool breaks_on_execution(const EventPage& event) {
    return (event.shape.bp_type & kExecutes) != 0;
}

bool breaks_on_read(const EventPage& event) {
    return (event.shape.bp_type & kReads) != 0;
}

void add_watches(const EventPage& event, engine::ThreadInstrumentation& watches) {
    if (!is_breakpoint(event)) return;
    if (breaks_on_execution(event)) {
        if (watches.code_count < engine::ThreadInstrumentation::kCode)
            watches.code[watches.code_count++] = event.shape.bp_addr;
    } else if (watches.memory_count < engine::ThreadInstrumentation::kMemory) {
        // Stores in any case: x86 has no breakpoint for loads alone (arch_build_bp_info() in hw_breakpoint.c).
        watches.memory[watches.memory_count++] = {
            .start = event.shape.bp_addr, .bytes = event.shape.bp_len, .loads = breaks_on_read(event), .stores = true};
    }
}

}  // namespace anyperf::agent
