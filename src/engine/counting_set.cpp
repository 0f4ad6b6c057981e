// counting_set.cpp: see counting_set.h.
#include "engine/counting_set.h"

namespace anyperf::engine {

void open_classes(Engine& engine, x86_64::ClassSet classes) {
    const Held held{engine.cache.lock};
    if ((classes & ~engine.counting.open) == 0) return;
    engine.counting.open |= classes;
    engine.cache.remove_all();
}

}  // namespace anyperf::engine
