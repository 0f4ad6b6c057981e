// thread_switches.h: how often the calling thread was switched out, its waits for the broker included.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::agent {

/// The thread's context switches so far. The kernel counts them. If the thread takes turns, they are its waits and the
/// turns that it has lost (ThreadPage::turn_switches), which are the same in every run.
struct Switches {
    std::uint64_t voluntary;
    std::uint64_t involuntary;
};
Switches switches_of(const engine::Thread& thread);

}  // namespace anyperf::agent
