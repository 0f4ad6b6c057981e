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
        watches.memory[watches.memory_count++] = {event.shape.bp_addr, event.shape.bp_len, breaks_on_read(event), true};
    }
}

}  // namespace anyperf::agent
