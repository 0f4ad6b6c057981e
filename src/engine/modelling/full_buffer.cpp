#include "engine/modelling/full_buffer.h"

#include "engine/modelling/modelling.h"
#include "engine/traces.h"
#include "engine/x86_64/translate/segment.h"

namespace anyperf::engine {

namespace {

/// Whether the models are to be fed and nothing else: then a thread that has left because its buffer of records was
/// full goes on at the prologue, within the cache. Every so often it takes the way of other exits, to
/// choose_recording().
bool only_feeds(const Thread& thread) {
    constexpr std::uint64_t kDrains = 32;
    const Engine& engine = *thread.engine;
    const std::uint64_t drained = engine.modelling.repeats.recorded / RecordStream::kWords;
    return drained % kDrains != 0 && !engine.counting.budgeted && engine.turns == nullptr && !engine.exact.on() &&
           !thread.exit_requested && thread.page.faults_are_counted == 0 && thread.single_step == SingleStep::no &&
           thread.trapped_pc == 0 && !is_on_path(thread) && !thread.traps_each;
}

}  // namespace

bool feed_full_buffer(Thread& thread) {
    const bool is_full = static_cast<std::uint32_t>(thread.records.next_top) == x86_64::kMayGoOn;
    thread.records.next_top = 0;
    if (!is_full || !only_feeds(thread)) return false;
    feed_models(thread, thread.registers.rip);
    return true;
}

}  // namespace anyperf::engine
