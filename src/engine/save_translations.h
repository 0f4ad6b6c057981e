// save_translations.h: stores what the process has translated (engine/store), when it ends or executes another program.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// Takes the cache's lock. Does nothing in the child of a vfork, which uses its parent's translations.
void save_translations(Thread& thread);

}  // namespace anyperf::engine
