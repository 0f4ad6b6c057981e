// counting_set.h: which classes this process's translated code counts.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// Counts these classes, too, from now on: what has been translated without them is left at its next exit and made
/// anew. Classes are not closed again: a program that opens and closes an event in a loop would be translated each
/// time.
void open_classes(Engine& engine, x86_64::ClassSet classes);

/// Grants the thread `instructions` from here on; it stops before one more retires.
inline void grant(Thread& thread, std::int64_t instructions) {
    LiveCounters& counters = thread.page.counters;
    const auto retired = static_cast<std::int64_t>(counters.retired());
    counters.begin_moving();
    __atomic_store_n(&counters.granted, retired + instructions, __ATOMIC_RELAXED);
    counters.leave(instructions, 0, 0);
    counters.end_moving();
}

}  // namespace anyperf::engine
