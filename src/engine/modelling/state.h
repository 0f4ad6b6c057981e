// state.h: the models of a process's threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/lock.h"

namespace anyperf::models {
class Core;
class SharedLevel;
}  // namespace anyperf::models

namespace anyperf::engine {

struct ThreadModels;

/// The memory of the code of replay_code.h.
struct ReplayMemory {
    std::uint8_t* start = nullptr;
    const std::uint8_t* leave = nullptr;  ///< the end of the function that enters the code
    std::size_t first = 0;                ///< where segments' code begins
    std::size_t used = 0;
    std::uint32_t generation = 0;  ///< of the cache whose segments have code here
    bool refused = false;          ///< the kernel has refused the memory
};

/// Of a process. `lock` is a leaf in the order of locks, below Cache::lock; only own_pages' comes after it. It is held
/// while a thread feeds its models, and over a fork.
struct Modelling {
    Lock lock;
    ThreadModels* threads = nullptr;        ///< of the threads that are modelled
    models::SharedLevel* shared = nullptr;  ///< made with the first of them
    models::Core* only_core = nullptr;      ///< of a machine that has one core; made with the first of them
    ReplayMemory code;
    std::uint32_t times_removed = 0;  ///< how often code was translated again to record no more
    bool reserved = false;            ///< Cache::reserve_recordings() has been called
};

}  // namespace anyperf::engine
