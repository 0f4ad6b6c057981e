// engine.h: the engine of one process: what all its threads share.
#pragma once

#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/run_state.h"
#include "engine/watches.h"
#include "engine/x86_64/routines.h"
#include "engine/x86_64/translate.h"

namespace anyperf::resident {
struct Process;
}

namespace anyperf::engine {

using x86_64::Thread;

/// What the engine knows of the program that it runs.
struct Program {
    char path[4096] = {};  ///< as /proc/self/exe is to say
    std::uint64_t vdso_start = 0;
    std::uint64_t vdso_end = 0;
};

struct Engine {
    Cache cache;
    ExecutableMap guarded;  ///< pages that changed_code.h protects; under the cache's lock
    x86_64::Routines routines;
    x86_64::Counting counting;
    Watched watched;
    RunHeader* run = nullptr;  ///< shared by the run; null where the engine was started without one
    int run_fd = -1;           ///< its descriptor, hidden from the application
    int broker_fd = -1;        ///< where requests go, hidden as well; -1: nobody listens
    Program program;

    std::uint64_t pids = 0;                 ///< inode of its pid namespace
    Arena* arena_near_engine = nullptr;     ///< the first arena, which has the routines
    Thread* threads = nullptr;              ///< threads.h; under the cache's lock
    resident::Process* attached = nullptr;  ///< what attached.h keeps of this process
};

/// The engine's executable is the engine's memory.
void own_image();

/// Whether the address is in the engine's executable.
bool is_own_code(std::uint64_t address);

}  // namespace anyperf::engine
