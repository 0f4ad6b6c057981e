#include "engine/threads/counting.h"

namespace anyperf::engine {

void enable_classes(Engine& engine, x86_64::ClassSet classes) {
    const LockGuard held{engine.cache.lock};
    if ((classes & ~engine.counting.open) == 0) return;
    engine.counting.open |= classes;
    engine.cache.remove_all();
}

void begin_budgets(Engine& engine) {
    const LockGuard held{engine.cache.lock};
    engine.counting.budgeted = true;
    if (engine.counting.on()) engine.cache.remove_all();
}

void begin_steps(Engine& engine) {
    const LockGuard held{engine.cache.lock};
    if (engine.cache.charges_steps) return;
    engine.cache.charges_steps = true;
    engine.cache.remove_all();
}

namespace {

/// The place of a sum among those that have words; kReadableSums: all words count others.
std::size_t word_of(Engine& engine, const x86_64::ReadableSum& sum) {
    const LockGuard held{engine.cache.lock};
    x86_64::ReadableSums& sums = engine.counting.sums;
    for (std::size_t i = 0; i < sums.count; ++i)
        if (sums.sum[i] == sum) return i;
    if (sums.count == x86_64::kReadableSums) return sums.count;
    sums.sum[sums.count] = sum;
    engine.cache.remove_all();
    return sums.count++;
}

}  // namespace

void read_in_code(Thread& thread, std::uint32_t number, const x86_64::ReadableSum& sum, unsigned shift) {
    using x86_64::ReadableWords;
    if (thread.engine->counting.budgeted) return;  // x86_64/translate/read_counter.cpp
    const std::size_t word = word_of(*thread.engine, sum);
    if (word == x86_64::kReadableSums) return;
    const run::ThreadCounts counts = counts_of(thread);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sum.kTerms; ++i)
        if (sum.weight[i] != 0)
            value += static_cast<std::uint64_t>(std::int64_t{sum.weight[i]}) * counts.count(sum.row[i]);
    thread.readable.sums = &thread.engine->counting.sums;
    thread.readable.word[word] = value;
    const std::size_t offset = offsetof(Thread, readable) + offsetof(ReadableWords, word) + word * sizeof(value);
    thread.readable.slot[number % ReadableWords::kSlots] = {number, static_cast<std::uint32_t>(offset), shift};
}

}  // namespace anyperf::engine
