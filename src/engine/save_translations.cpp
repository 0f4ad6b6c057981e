#include "engine/save_translations.h"

#include "engine/threads/own_faults.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

void save(void* engine) {
    auto& of = *static_cast<Engine*>(engine);
    of.store.save(of.cache);
}

}  // namespace

// It reads the program's code, which another thread may unmap.
void save_translations(Thread& thread) {
    Engine& engine = *thread.engine;
    if (thread.owned_by_parent || !engine.store.has_news(engine.cache)) return;
    // What has been noted is forgotten, and what is made here is given back.
    update_own_faults(thread);
    const std::uint64_t before = kernel_faults();
    const LockGuard held{engine.cache.lock};
    x86_64::guarded_run(thread.reading, save, &engine);
    add_own_faults(thread, before);
}

}  // namespace anyperf::engine
