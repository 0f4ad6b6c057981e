#include "agent/thread_switches.h"

#include <sys/resource.h>

#include "engine/turns/turns.h"

namespace anyperf::agent {

using engine::address_of;
using engine::Thread;

Switches switches_of(const Thread& thread) {
    if (engine::turns::on(*thread.engine)) return {thread.page.turn_switches[0], thread.page.turn_switches[1]};
    struct rusage usage{};
    engine::kernel_call(__NR_getrusage, RUSAGE_THREAD, address_of(&usage));
    return {static_cast<std::uint64_t>(usage.ru_nvcsw), static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

}  // namespace anyperf::agent
