// engine.h: the state of the engine in one process, shared by all its threads: the code cache, the run's memory, and
// the program's path and vDSO. State of one thread is in x86_64/cpu/thread.h.
#pragma once

#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/exact/state.h"
#include "engine/instrumentation/state.h"
#include "engine/modelling/state.h"
#include "engine/random_stream.h"
#include "engine/x86_64/cpu/vector_state.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/translate.h"
#include "run/facts.h"
#include "run/run_state.h"

namespace anyperf::agent {
struct Process;
}

namespace anyperf::engine {

using x86_64::Thread;

/// The program that the engine runs.
struct Program {
    char path[4096] = {};  ///< what /proc/self/exe is to show
    std::uint64_t vdso_start = 0;
    std::uint64_t vdso_end = 0;
};

/// One per process, in pages of zeros. What threads change is under `cache.lock` (freestanding/lock.h, "The order of
/// locks") unless its owner has a lock of its own.
struct Engine {
    Cache cache;
    ExecutableMap protected_code;  ///< pages that memory/protected_code.h has write-protected; under the cache's lock
    x86_64::Routines routines;
    x86_64::Counting counting;               ///< classes that translations count
    ProcessInstrumentation instrumentation;  ///< breakpoints, watchpoints and branch recording
    Modelling modelling;                     ///< models of caches and branch predictors
    ExactCounts exact;                       ///< counts of every instruction
    const run::RunHeader* run = nullptr;     ///< the run's settings; null if the engine was started without a run
    run::RunUse* run_use = nullptr;          ///< the start of the run's memory; null without a run
    int facts_fd = -1;                       ///< what `run` is the start of (run/facts.h), hidden from the application
    int run_fd = -1;                         ///< the run's memory, hidden as well
    int broker_fd = -1;                      ///< the socket for requests, hidden as well; -1: no broker
    int engine_fd = -1;                      ///< the engine's executable (O_PATH), for execve, hidden as well
    int spare_fd = -1;                       ///< two numbers that are kept for the files of an execve
    int other_spare_fd = -1;                 ///< (own_descriptors.h); -1: not needed, or in use
    Program program;
    RandomStream random;          ///< begun in a deterministic run only
    bool has_real_timer = false;  ///< a timer of the kernel may have been set, which may end any wait; never reset

    x86_64::VectorStateFormat vector_state;
    const void* initial_vector_state = nullptr;  ///< what a signal handler begins with; read-only

    std::uint64_t locks_future = 0;      ///< MCL_FUTURE and MCL_ONFAULT of the program (syscalls/locked_memory.h)
    std::uint64_t pages_accounted = 0;   ///< of Cache::touched_pages(): in the process's record (threads/own_faults.h)
    std::uint64_t pid_namespace = 0;     ///< inode of the process's pid namespace
    Arena* arena_near_engine = nullptr;  ///< the first arena, which has the entry and exit routines
    Thread* threads = nullptr;           ///< list of all threads (thread_list.h); under the cache's lock
    agent::Process* agent = nullptr;     ///< the agent's state of this process; null until it has one
};

/// Adds the engine's executable to own_pages.
void add_own_image();

/// Whether the address is in the engine's executable.
bool is_own_code(std::uint64_t address);

}  // namespace anyperf::engine
