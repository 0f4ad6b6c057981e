// page_faults.h: the kernel's count of a thread's page faults, and those in between that are the engine's own.
#pragma once

#include <cstdint>

#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine {

/// Page faults of the calling thread so far, as the kernel counts them (getrusage(2)).
struct PageFaults {
    std::uint64_t minor = 0;  ///< without I/O
    std::uint64_t major = 0;
};
PageFaults faults_of_thread();

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

}  // namespace anyperf::engine
