// faults.cpp: page faults of the application's own code. The kernel counts a thread's faults, also those of the engine;
// so the books are looked at whenever the thread leaves the application's code and enters it, while an event wants
// them.
#include <sys/resource.h>

#include "engine/attached.h"

namespace anyperf::engine::attached {

namespace {

struct Faults {
    std::uint64_t minor = 0;
    std::uint64_t major = 0;
};

Faults faults_so_far() {
    rusage usage{};
    constexpr auto kThisThread = static_cast<std::uint64_t>(RUSAGE_THREAD);
    kernel_call(__NR_getrusage, kThisThread, address_of(&usage));
    return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
}

}  // namespace

void left_code(Thread& thread) {
    const Faults now = faults_so_far();
    thread.page.faults[0] += now.minor - thread.faults_at_entry[0];
    thread.page.faults[1] += now.major - thread.faults_at_entry[1];
    thread.faults_at_entry[0] = now.minor;
    thread.faults_at_entry[1] = now.major;
}

void entering_code(Thread& thread) {
    const Faults now = faults_so_far();
    thread.faults_at_entry[0] = now.minor;
    thread.faults_at_entry[1] = now.major;
}

}  // namespace anyperf::engine::attached
