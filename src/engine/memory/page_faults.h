// page_faults.h: the page faults of the engine, which the kernel counts as the program's (getrusage(2)).
//
// PROBLEM. A program that is being translated leaves its code for the engine each few instructions. To read the
// kernel's count there and back takes longer than the visit: gcc -O2 -c made 168,000 such calls, a third of its time.
//
// MECHANISM. A visit in which the engine only looks up, links or translates is *quiet*: it faults on no memory of the
// engine but what it makes ready for more translations, and those pages are counted (PagesAhead::faults()). All other
// memory that such a visit uses is touched before the thread begins to count (touch_quiet_memory()). So the kernel's
// count is read only around other visits: system calls, signals, ends of budgets, and a small part of the quiet ones.
//
// LIMITS. After a fork both processes copy pages at their first write, the agent may need to know at which instruction
// a fault was, and before Linux 5.14 no call makes pages ready. Then no visit is quiet (counts_faults_at_exit()).
#pragma once

#include <cstdint>

#include "engine/freestanding/thread_faults.h"
#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine {

/// While an event of the thread counts page faults: those between construction and destruction are not the program's.
/// The thread is the caller.
class FaultsOfEngine {
  public:
    explicit FaultsOfEngine(x86_64::Thread& thread);
    ~FaultsOfEngine();
    FaultsOfEngine(const FaultsOfEngine&) = delete;
    FaultsOfEngine& operator=(const FaultsOfEngine&) = delete;

  private:
    x86_64::Thread& thread_;
    PageFaults before_;
};

/// Holds the cache's lock for a scope. The pages that the thread makes ready meanwhile are not faults of the program.
class HeldCache {
  public:
    explicit HeldCache(x86_64::Thread& thread);
    ~HeldCache();
    HeldCache(const HeldCache&) = delete;
    HeldCache& operator=(const HeldCache&) = delete;

  private:
    x86_64::Thread& thread_;
    std::uint64_t before_;
};

/// Has the kernel allocate the memory of the engine that quiet visits of the thread use. The thread is the caller.
void touch_quiet_memory(x86_64::Thread& thread);

/// Whether the visit of the thread, which has left translated code, is not quiet: where page faults are counted, it
/// reads the kernel's count.
bool counts_faults_at_exit(x86_64::Thread& thread);

}  // namespace anyperf::engine
