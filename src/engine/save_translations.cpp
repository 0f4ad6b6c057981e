#include "engine/save_translations.h"

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
    if (thread.owned_by_parent || !thread.engine->store.on()) return;
    const LockGuard held{thread.engine->cache.lock};
    x86_64::guarded_run(thread.reading, save, thread.engine);
}

}  // namespace anyperf::engine
