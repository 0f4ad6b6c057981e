#include "engine/threads/own_faults.h"

#include <sys/resource.h>

#include "engine/threads/run_records.h"

namespace anyperf::engine {

namespace {

std::uint64_t own_pages_touched(const Engine& engine) {
    return engine.cache.touched_pages() + engine.tuples.touched_pages() + engine.store.touched_pages();
}

void add(std::uint64_t& count, std::uint64_t more) {
    __atomic_add_fetch(&count, more, __ATOMIC_RELAXED);
}

}  // namespace

std::uint64_t kernel_faults() {
    struct rusage usage{};
    kernel_call(__NR_getrusage, RUSAGE_SELF, address_of(&usage));
    return static_cast<std::uint64_t>(usage.ru_minflt);
}

void begin_own_faults(const Thread& thread, std::uint64_t before) {
    run::ProcessRecord* const record = record_of(thread);
    if (record == nullptr) return;
    add(record->own_faults, kernel_faults() - before);
    thread.engine->pages_accounted = own_pages_touched(*thread.engine);
}

void add_own_faults(const Thread& thread, std::uint64_t before) {
    if (run::ProcessRecord* const record = record_of(thread)) add(record->own_faults, kernel_faults() - before);
}

void update_own_faults(const Thread& thread) {
    // The child of a vfork uses its parent's engine, and the parent accounts for that engine's pages.
    run::ProcessRecord* const record = thread.owned_by_parent ? nullptr : record_of(thread);
    if (record == nullptr) return;
    const std::uint64_t now = own_pages_touched(*thread.engine);
    const std::uint64_t before = __atomic_exchange_n(&thread.engine->pages_accounted, now, __ATOMIC_RELAXED);
    if (now > before) add(record->own_faults, now - before);
}

}  // namespace anyperf::engine
