// write_routines.h: writes the routines of access_routines.h.
#pragma once

#include "engine/modelling/access_routines.h"
#include "engine/modelling/replay_emitter.h"
#include "models/caches/core.h"

namespace anyperf::engine {

/// For machines with this geometry. `pages`: as of LookUpCode.
AccessRoutines write_routines(ReplayEmitter& out, const models::ShortPath& path, bool pages);

}  // namespace anyperf::engine
