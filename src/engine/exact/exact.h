// exact.h: begins and ends exact counting for a process and its threads. state.h explains what is counted, and how.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// A process begins, before its engine translates anything: it gets an image if its run is exact. The child of a fork
/// inherits the cells of its parent's image.
void begin_exact_image(Engine& engine);
void inherit_exact_image(Engine& engine);

/// The calling thread begins: it gets an area. Precondition: its process has been reported to the recorder, and it has
/// not run translated code.
void begin_exact_thread(Thread& thread);

/// The thread has run its last translated code. Another thread of the process may take over its area.
void end_exact_thread(Thread& thread);

/// Counts the indirect calls in the thread's list, if the list is full. Precondition: the thread has left translated
/// code.
void count_indirect_calls(Thread& thread);

/// The segment that begins with `cell` was counted in advance, and was left before its instruction `index`.
/// x86_64/translate/recover.h (uncount_rest()) corrects the other counts.
void note_segment_left(Thread& thread, std::uint32_t cell, std::size_t index);
/// The instruction at `pc` ran by itself, in no segment.
void note_instruction_ran(Thread& thread, std::uint64_t pc);
/// The instruction at `pc` was counted and did not retire.
void note_instruction_undone(Thread& thread, std::uint64_t pc);

}  // namespace anyperf::engine
