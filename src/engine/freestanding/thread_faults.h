// thread_faults.h: the kernel's count of a thread's page faults.
#pragma once

#include <cstdint>

namespace anyperf::engine {

struct PageFaults {
    std::uint64_t minor = 0;  ///< without I/O
    std::uint64_t major = 0;
};

/// Page faults of the calling thread so far, those of the engine included (getrusage(2)).
PageFaults faults_of_thread();

}  // namespace anyperf::engine
