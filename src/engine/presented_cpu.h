// presented_cpu.h: instructions that act otherwise on the CPU that the run presents than on the host's (`--cpu-model`):
// those that it does not have, and those that depend on XCR0.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/x86_64/cpu/signal_frame.h"

namespace anyperf::engine {

/// The instruction at `pc` is not one of the presented CPU's: queues the SIGILL of #UD. The thread is at `pc` then.
void refuse_instruction(Thread& thread, std::uint64_t pc);

/// Executes xgetbv, or saves or restores the components of XCR0 that programs see. The instruction is counted. False:
/// it was not executed, because its memory cannot be accessed, or the code at `pc` has changed; the CPU is to execute
/// it.
bool run_presented_instruction(Thread& thread, std::uint64_t pc, std::uint8_t length);

/// The layout of the vector state in a signal frame, where programs see another XCR0 than the host's: the standard
/// format of those components (SDM volume 1, 13.4.3). `note`: the kernel's layout, which is changed.
void present_vector_layout(const run::RunHeader* run, x86_64::XstateNote& note);

/// AT_MINSIGSTKSZ for the XCR0 that programs see.
std::uint64_t smallest_signal_stack(const run::RunHeader& run);

}  // namespace anyperf::engine
