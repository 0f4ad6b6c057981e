// exact.h: exact counts in the life of a process and its threads. What is counted, and how: state.h.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// A process begins, before its engine translates anything: it gets an image if its run is exact. The child of a fork
/// inherits the cells of its parent's image.
void begin_exact_image(Engine& engine);
void inherit_exact_image(Engine& engine);

/// The calling thread begins: it gets an area. To be called after its process has been reported to the recorder, and
/// before it runs translated code.
void begin_exact_thread(Thread& thread);

/// The thread has run its last translated code. Another thread of the process may take over its area.
void end_exact_thread(Thread& thread);

/// Counts the indirect calls that the thread has appended, if its list is full. The thread has left translated code.
void count_indirect_calls(Thread& thread);

/// What was counted in advance or has run by itself, see uncount_rest() and its neighbours in
/// x86_64/translate/recover.h. `cell`: of the segment; `index`: of its first instruction that has not run.
void note_segment_left(Thread& thread, std::uint32_t cell, std::size_t index);
void note_instruction_ran(Thread& thread, std::uint64_t pc);
void note_instruction_undone(Thread& thread, std::uint64_t pc);

}  // namespace anyperf::engine
