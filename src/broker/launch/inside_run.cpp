#include "broker/launch/inside_run.h"

#include <sys/prctl.h>

#include "run/run_state.h"

namespace anyperf::broker {

bool inside_run() {
    return ::prctl(static_cast<int>(run::kRunVersionPrctl), 0UL, 0UL, 0UL, 0UL) > 0;
}

}  // namespace anyperf::broker
