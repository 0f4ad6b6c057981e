#include "engine/memory/page_faults.h"

#include <sys/resource.h>

#include "engine/freestanding/kernel.h"

namespace anyperf::engine {

PageFaults faults_of_thread() {
    struct rusage usage{};
    constexpr auto kThisThread = static_cast<std::uint64_t>(RUSAGE_THREAD);
    kernel_call(__NR_getrusage, kThisThread, address_of(&usage));
    return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
}

FaultsOfEngine::FaultsOfEngine(x86_64::Thread& thread) : thread_(thread) {
    if (thread.page.faults_are_counted != 0) before_ = faults_of_thread();
}

// The program's faults are what the count has grown by since the baseline, so the baseline moves.
FaultsOfEngine::~FaultsOfEngine() {
    if (thread_.page.faults_are_counted == 0) return;
    const PageFaults now = faults_of_thread();
    thread_.faults_at_entry[0] += now.minor - before_.minor;
    thread_.faults_at_entry[1] += now.major - before_.major;
}

}  // namespace anyperf::engine
