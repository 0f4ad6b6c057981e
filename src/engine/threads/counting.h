// counting.h: how the agent sets what is counted: the classes that the process's translated code counts, and the budget
// of a thread (the head of run/live_counters.h explains budgets).
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// From now on counts these classes, too: threads leave code that was translated without them at its next exit, and it
/// is translated again. Classes are never disabled: a program that opens and closes an event in a loop would be
/// translated again each time.
void enable_classes(Engine& engine, x86_64::ClassSet classes);

/// From now on translated code charges its instructions to budgets; until then it checks none. Threads leave code that
/// was translated before at its next exit. Budgets are never switched off, for the same reason.
void begin_budgets(Engine& engine);

/// From now on translated code charges the steps of turns (engine/turns/turn_length.h). Never switched off, as above.
void begin_steps(Engine& engine);

/// From now on the calling thread reads this sum, divided by 2^`shift`, by rdpmc of `number` without leaving translated
/// code, unless all words of the process count other sums (x86_64/cpu/readable.h). Precondition: the thread is in
/// engine code.
void read_in_code(Thread& thread, std::uint32_t number, const x86_64::ReadableSum& sum, unsigned shift);

/// Sets the budget of the calling thread: after `instructions` more it stops before one more retires. New instructions
/// are in the reserve until a block requests them.
inline void set_budget(Thread& thread, std::int64_t instructions) {
    run::LiveCounters& counters = thread.page.counters;
    if (instructions < run::kUnlimited && !thread.engine->counting.budgeted) begin_budgets(*thread.engine);
    if (thread.engine->counting.budgeted) x86_64::settle_instructions(thread);
    const std::int64_t more = instructions - counters.remaining();
    counters.write_begin();
    counters.add_budget(more);
    counters.write_end();
}

}  // namespace anyperf::engine
