// thread_models.h: the models of one thread, which are in separate pages.
#pragma once

#include <cstdint>

#include "engine/modelling/noted_branches.h"
#include "engine/modelling/wanted_models.h"
#include "engine/x86_64/cpu/thread.h"
#include "models/branches/branch_unit.h"
#include "models/caches/core.h"
#include "models/stalls.h"

namespace anyperf::engine {

/// An access that did not just repeat, as the models saw it.
struct NotedAccess {
    std::uint64_t pc = 0;
    std::uint64_t address = 0;
    models::Access kind = models::Access::load;
    models::AccessFacts facts;
};

/// The accesses of the instructions that have run since note_accesses(). Of many, as a REP string instruction makes
/// them, it keeps the first ones, and the load that took longest.
struct NotedAccesses {
    static constexpr std::uint32_t kFirst = 4;

    NotedAccess first[kFirst];
    std::uint32_t count = 0;
    NotedAccess slowest_load;
    unsigned slowest_cycles = 0;  ///< 0: no load was noted
};

struct ThreadModels {
    ThreadModels(x86_64::Thread& of, models::Core& caches, const models::Machine& machine, std::uint64_t* memory)
        : thread(of), core(caches), branches(machine.branches, of.page.counters.modelled, memory), stalls(machine) {}

    x86_64::Thread& thread;
    models::Core& core;  ///< the thread's own; on a machine with one core, Modelling::only_core
    models::Branches branches;
    models::Stalls stalls;
    NotedAccesses noted;
    NotedBranches noted_branches;  ///< of the records that are being replayed
    bool notes = false;            ///< accesses are noted: an event samples what an instruction accessed
    WantedModels wanted;
    /// The next records may be of code that does not keep up to date what other code compares (Thread::recent).
    bool forgets_recent = false;
    ThreadModels* next = nullptr;  ///< in Modelling::threads
    std::uint64_t bytes = 0;       ///< size of the mapping at whose start this is
    std::uint64_t core_bytes = 0;  ///< size of the mapping at whose start `core` is; 0: `core` is the process's
    std::uint64_t fs_base = 0;
    bool knows_fs_base = false;  ///< false: fs_base was not read yet, or may have changed since
};

}  // namespace anyperf::engine
