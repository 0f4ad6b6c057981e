#include "engine/freestanding/thread_faults.h"

#include <sys/resource.h>

#include "engine/freestanding/kernel.h"

namespace anyperf::engine {

PageFaults faults_of_thread() {
    struct rusage usage{};
    constexpr auto kThisThread = static_cast<std::uint64_t>(RUSAGE_THREAD);
    kernel_call(__NR_getrusage, kThisThread, address_of(&usage));
    return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
}

}  // namespace anyperf::engine
