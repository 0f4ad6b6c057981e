// locked_memory.cpp: does mlockall(2) by mlock2(2), mapping by mapping. Another thread may unmap a mapping meanwhile:
// then mlock2 fails, and the error is ignored. A mapping that another thread makes meanwhile is locked only if
// MCL_FUTURE asks for it.
#include "engine/syscalls/locked_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "engine/freestanding/capabilities.h"
#include "engine/freestanding/pages.h"
#include "engine/syscalls/application_maps.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;  // [vsyscall] is above it

}  // namespace

long check_lock_limit(bool all) {
    struct {
        std::uint64_t soft, hard;
    } limit{};
    kernel_call(__NR_prlimit64, 0, RLIMIT_MEMLOCK, 0, address_of(&limit));
    if (limit.soft == RLIM_INFINITY || has_capability(CAP_IPC_LOCK)) return 0;
    if (limit.soft == 0) return -EPERM;
    if (!all) return 0;
    std::uint64_t bytes = 0;
    for_each_mapping(
        [](void* sum, const ApplicationMapping& mapping) {
            if (mapping.start < kUserEnd) *static_cast<std::uint64_t*>(sum) += mapping.end - mapping.start;
        },
        &bytes);
    return bytes > limit.soft ? -ENOMEM : 0;
}

void lock_current_memory(bool on_fault) {
    std::uint64_t flags = on_fault ? std::uint64_t{MLOCK_ONFAULT} : 0;
    // Errors are ignored, as in the kernel (apply_mlockall_flags): some mappings can't be locked.
    for_each_mapping(
        [](void* with, const ApplicationMapping& mapping) {
            if (mapping.start < kUserEnd)
                kernel_call(__NR_mlock2, mapping.start, mapping.end - mapping.start,
                            *static_cast<const std::uint64_t*>(with));
        },
        &flags);
}

std::uint64_t map_flags_of_future_locks(const Engine& engine) {
    return engine.locks_future == MCL_FUTURE ? std::uint64_t{MAP_LOCKED} : 0;
}

bool lock_new_memory(const Engine& engine, std::uint64_t start, std::uint64_t bytes) {
    if (engine.locks_future == 0) return true;
    const bool on_fault = (engine.locks_future & MCL_ONFAULT) != 0;
    const long got = kernel_call(__NR_mlock2, start, bytes, on_fault ? std::uint64_t{MLOCK_ONFAULT} : 0);
    // Without MCL_ONFAULT mmap(2) has checked the limit, because of MAP_LOCKED: ENOMEM then means that the memory has
    // no access rights and cannot be locked.
    return got != -ENOMEM || !on_fault;
}

}  // namespace anyperf::engine
