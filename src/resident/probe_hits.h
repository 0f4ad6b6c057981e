// probe_hits.h: a thread at a place that is probed, and behind a call of a function whose returns are waited for.
#pragma once

#include "resident/process.h"

namespace anyperf::resident {

/// The instruction at the thread's rip is about to run. True: something has come of it, which is not to be repeated.
bool reach_place(engine::Thread& thread);

}  // namespace anyperf::resident
