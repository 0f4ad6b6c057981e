// counting_set.h: which classes this process's translated code counts.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// Counts these classes, too, from now on: what has been translated without them is left at its next exit and made
/// anew. Classes are not closed again: a program that opens and closes an event in a loop would be translated each
/// time.
void open_classes(Engine& engine, x86_64::ClassSet classes);

/// Grants the thread `instructions` from here on; it stops before one more retires. It has them once it comes to a
/// block.
inline void grant(Thread& thread, std::int64_t instructions) {
    LiveCounters& counters = thread.page.counters;
    const std::int64_t more = instructions - counters.left();
    counters.begin_moving();
    counters.grant(more);
    counters.end_moving();
}

}  // namespace anyperf::engine
