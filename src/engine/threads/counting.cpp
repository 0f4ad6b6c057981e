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

}  // namespace anyperf::engine
