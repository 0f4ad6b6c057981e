// descriptors.h: what a wait of a thread that takes turns depends on in a descriptor.
#pragma once

#include <errno.h>

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine::turn_calls {

/// A file by its descriptor.
struct File {
    bool is_regular = false;  ///< it never waits
    bool is_socket = false;
    bool outside = false;    ///< processes outside of the run may use it: it was open when the run began, or it is a
                             ///< character device, or a socket other than a Unix one
    std::uint64_t pipe = 0;  ///< the inode, if it is a pipe; else 0
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
};

File file_of(const Thread& thread, std::uint64_t fd);

/// Whether the answer of a poll(2) ends a wait in the kernel (turns::Wait::watch). A signal does not: it may be the
/// engine's own, by which a thread learns that it has got the turn, and it may come late. If it is the application's,
/// the wait is ended because it is pending.
inline bool ends_watch(long answer) {
    return answer != 0 && answer != -EINTR;
}

/// Makes a call that does not wait, again if a signal interrupts it all the same, as poll(2) with a timeout of 0 is:
/// the engine keeps the signal, which the next wait will find.
template <class... Arguments>
long call_without_waiting(long number, Arguments... arguments) {
    long got = 0;
    do {
        got = kernel_call(number, arguments...);
    } while (got == -EINTR);
    return got;
}

}  // namespace anyperf::engine::turn_calls
