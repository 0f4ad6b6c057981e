// requests.h: arguments and answers of the subsystem's calls. The host fetches what a client's pointers refer to and
// resolves its descriptors; all other values are as the client passed them, and the subsystem checks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "subsystem/host.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/shared/probe.h"

namespace anyperf::subsystem {

/// A descriptor argument of a client, resolved by the host. `none`: the client passed -1. Without `event` the
/// descriptor is not that of an event of this run.
struct Descriptor {
    bool none = true;
    std::optional<EventIndex> event = std::nullopt;
    bool open = false;  ///< some file is open under this number, an event or not
};

struct OpenRequest {
    TaskId caller;
    /// The readable bytes at the pointer, at most 4096; empty: the pointer is bad.
    std::span<const std::byte> attr = {};
    std::int32_t pid = 0;
    std::int32_t cpu = -1;
    Descriptor group = {};
    std::uint64_t flags = 0;
    bool descriptor_free = true;  ///< false: RLIMIT_NOFILE is reached. EMFILE comes after the checks of attr
    /// With PERF_FLAG_PID_CGROUP: the cgroup whose directory is open as `pid`. Empty: `pid` is something else (EBADF).
    std::optional<std::uint64_t> cgroup = std::nullopt;
    /// The file at the path that attr.config1 points to, for PMUs that take a path there (uprobe).
    ProbedFile file = {};
};

/// An ioctl's third argument, fetched as the request's kind of argument demands (abi::kIoctls).
struct IoctlArgument {
    std::uint64_t word = 0;  ///< the argument as passed
    /// For a pointer: the readable bytes there, at most 4096; empty: the pointer is bad.
    std::span<const std::byte> bytes = {};
    Descriptor descriptor = {};  ///< for a descriptor; only a word of -1 in all 64 bits is `none`
};

struct IoctlAnswer {
    std::int64_t value = 0;  ///< what the ioctl returns
    /// For the caller's pointer; the host answers EFAULT where it can't write there.
    std::vector<std::byte> written = {};
};

struct MapRequest {
    TaskId caller;
    std::uint64_t length = 0;  ///< bytes, as passed to mmap
    std::uint64_t offset = 0;
    std::int32_t prot = 0;   ///< PROT_*
    std::int32_t flags = 0;  ///< MAP_*
    /// The event may have `inherit` and no CPU. perf_mmap() refuses that, so that not all children of a task write to
    /// one ring. Only the recorder that hosts the run may ask for it.
    bool inherited_without_cpu = false;
};

/// Where a mapping is in the shared memory. The host ends each successful `map` with one `unmap`.
struct Mapping {
    RingIndex ring = 0;
    std::uint64_t offset = 0;  ///< bytes, of the ring's header page
    std::uint64_t bytes = 0;
};

struct PollState {
    bool in = false;       ///< POLLIN: a wake-up that no poll has reported yet
    bool hang_up = false;  ///< POLLHUP: no ring, or the task has ended
    bool error = false;    ///< POLLERR: a pinned event that did not fit its PMU
};

enum class ForkKind : std::uint8_t {
    process,
    thread,          ///< CLONE_THREAD
    clears_signals,  ///< a process with CLONE_CLEAR_SIGHAND: sigtrap events are not inherited
};

}  // namespace anyperf::subsystem
