// state.h: the models of a process's threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/code_memory.h"
#include "engine/freestanding/lock.h"
#include "engine/modelling/access_routines.h"

namespace anyperf::models {
class Core;
class SharedLevel;
}  // namespace anyperf::models

namespace anyperf::engine {

struct ThreadModels;

/// The memory of the code of replay_code.h.
struct ReplayMemory {
    CodeMemory code;
    AccessRoutines routines;
    std::size_t first = 0;  ///< where segments' code begins
    std::size_t used = 0;
    std::uint32_t generation = 0;  ///< of the cache whose segments have code here
    bool refused = false;          ///< the kernel has refused the memory
};

/// The models of a process. `lock` may be taken under Cache::lock, and while it is held only the lock of own_pages is
/// taken. It is held while a thread feeds its models, and over a fork.
struct Modelling {
    Lock lock;
    ThreadModels* threads = nullptr;        ///< list of the models of all modelled threads
    models::SharedLevel* shared = nullptr;  ///< made with the first of these
    models::Core* only_core = nullptr;      ///< if the machine has one core; made with the first of these
    ReplayMemory code;
    std::uint32_t times_removed = 0;  ///< how often code was translated again to stop recording
    bool reserved = false;            ///< Cache::reserve_recordings() has been called
    bool replays_branches = false;    ///< some thread's predictors are fed with records
};

}  // namespace anyperf::engine
