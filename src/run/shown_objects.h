// shown_objects.h: the numbers that programs of a deterministic run see for objects that the kernel numbers by chance,
// or after what else the machine does: in the run memory (engine/syscalls/objects.h, engine/syscalls/socket_names.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/trace_states.h"

namespace anyperf::run {

/// The id that programs see for the first System V object of a kind. The kernel's are below: 32,768 times a number that
/// grows with each object that is removed, plus an index (ipc_addid() in ipc/util.c).
inline constexpr std::uint32_t kFirstShownObject = 0x7f000000;

/// What System V ids name.
enum class ObjectKind : std::uint32_t { segments, semaphores, queues, count };

struct ShownObjects {
    static constexpr std::uint32_t kObjects = 4096;
    static constexpr std::uint32_t kCookies = 1024;

    /// By ObjectKind: the kernel's ids.
    Numbering<kObjects> ids[static_cast<std::size_t>(ObjectKind::count)];
    /// The kernel's cookies of inotify events: the one that programs see as N is at N modulo kCookies.
    std::uint32_t cookies;
    std::uint32_t cookie[kCookies];
    /// Names that the kernel has chosen for Unix sockets, as numbers, and names of this form that programs have chosen.
    Numbering<kObjects> chosen_names;
    Numbering<kObjects> given_names;

    /// What programs see for a cookie of the kernel's. Both events of a renaming have one; of old cookies it is
    /// forgotten.
    std::uint32_t shown_cookie(std::uint32_t kernels) {
        const std::uint32_t given = __atomic_load_n(&cookies, __ATOMIC_ACQUIRE);
        for (std::uint32_t number = given; number > 0 && given - number < kCookies; --number)
            if (__atomic_load_n(&cookie[number % kCookies], __ATOMIC_RELAXED) == kernels) return number;
        const std::uint32_t number = __atomic_add_fetch(&cookies, 1, __ATOMIC_ACQ_REL);
        __atomic_store_n(&cookie[number % kCookies], kernels, __ATOMIC_RELAXED);
        return number;
    }
};

/// Where they are in the run memory: before the trace states.
inline constexpr std::size_t kShownObjectsOffset = kTraceStatesOffset - (sizeof(ShownObjects) + 4095) / 4096 * 4096;
static_assert(kTurnsOffset + sizeof(Turns) <= kShownObjectsOffset);

}  // namespace anyperf::run
