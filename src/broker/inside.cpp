// inside.cpp: see inside.h.
#include "broker/inside.h"

#include <sys/prctl.h>

#include "engine/run_state.h"

namespace anyperf::broker {

bool inside_run() {
    return ::prctl(static_cast<int>(engine::kInsideRun), 0UL, 0UL, 0UL, 0UL) > 0;
}

}  // namespace anyperf::broker
