// debug_registers.h: the debug registers that a tracer sets for a thread (ptrace(2), PTRACE_POKEUSER), as gdb does for
// hardware watchpoints.
//
// The CPU's own would stop at the translation. So the tracer's engine checks the values as the kernel does and stores
// them in the tracee's Thread (syscalls/tracing/debug_registers.cpp), and the tracee's code is instrumented as for
// breakpoints of perf_event_open(2). A hit raises a SIGTRAP.
#pragma once

#include <cstdint>

#include "engine/instrumentation/state.h"

namespace anyperf::engine {

/// Numbers of debug registers (SDM volume 3, 17.2).
inline constexpr unsigned kDebugSlots = 4;
inline constexpr unsigned kDebugStatus = 6;
inline constexpr unsigned kDebugControl = 7;

/// Bits of the status: a bit for each slot, and the one of a single step.
inline constexpr std::uint64_t kStepCause = std::uint64_t{1} << 14;

/// What a slot watches.
struct DebugSlot {
    enum class Kind : std::uint8_t { execution = 0, stores = 1, ports = 2, accesses = 3 };

    std::uint64_t address = 0;
    std::uint32_t bytes = 1;
    Kind kind = Kind::execution;
    bool enabled = false;
};

/// Zeros are their state in a new thread or program.
struct DebugRegisters {
    std::uint64_t address[kDebugSlots];
    std::uint64_t status;   ///< what has raised the last debug exception: positive bits only
    std::uint64_t control;  ///< without the bits that are reserved
    std::uint64_t changed;  ///< 1: the tracer has changed them since the thread has looked

    DebugSlot slot(unsigned number) const {
        const std::uint64_t shape = control >> (16 + 4 * number);
        constexpr std::uint32_t kBytes[] = {1, 2, 8, 4};
        return {address[number], kBytes[shape >> 2 & 3], static_cast<DebugSlot::Kind>(shape & 3),
                (control >> (2 * number) & 3) != 0};
    }
    bool any() const { return (control & 0xff) != 0; }
};

/// Adds what the registers watch.
inline void add_debug_registers(const DebugRegisters& registers, ThreadInstrumentation& wanted) {
    for (unsigned i = 0; i < kDebugSlots; ++i) {
        const DebugSlot slot = registers.slot(i);
        if (!slot.enabled) continue;
        if (slot.kind == DebugSlot::Kind::execution) {
            if (wanted.code_count < ThreadInstrumentation::kCode) wanted.code[wanted.code_count++] = slot.address;
        } else if (wanted.memory_count < ThreadInstrumentation::kMemory) {
            wanted.memory[wanted.memory_count++] = {.start = slot.address,
                                                    .bytes = slot.bytes,
                                                    .loads = slot.kind == DebugSlot::Kind::accesses,
                                                    .stores = true};
        }
    }
}

}  // namespace anyperf::engine
