// counting.h: what the agent sets to have things counted: the classes that the process's translated code counts,
// and the budget of a thread (see the head of run/live_counters.h).
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// Counts these classes, too, from now on: code that was translated without them is left at its next exit and
/// translated again. Classes are never disabled: a program that opens and closes an event in a loop would be translated
/// again each time.
void enable_classes(Engine& engine, x86_64::ClassSet classes);

/// From now on translated code takes its instructions from budgets; until then it does not check any. Code that was
/// translated before is left at its next exit. It is never undone, for the same reason.
void begin_budgets(Engine& engine);

/// Sets the budget of the thread, which is the caller, to `instructions` from here on: it stops before one more
/// retires. New instructions are in the reserve until a block requests them. The budget ends where the thread's turn
/// does, if that is earlier: then exactly there (engine/turns).
inline void set_budget(Thread& thread, std::int64_t instructions) {
    run::LiveCounters& counters = thread.page.counters;
    if (thread.turn_end != 0) [[unlikely]] {
        const auto left = static_cast<std::int64_t>(thread.turn_end - counters.charged());
        if (left < instructions) {
            instructions = left > 0 ? left : 0;
            thread.grant_is_exact = true;
        }
    }
    if (instructions < run::kUnlimited && !thread.engine->counting.budgeted) begin_budgets(*thread.engine);
    const std::int64_t more = instructions - counters.remaining();
    counters.write_begin();
    counters.add_budget(more);
    counters.write_end();
}

}  // namespace anyperf::engine
