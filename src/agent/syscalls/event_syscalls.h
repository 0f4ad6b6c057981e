// event_syscalls.h: system calls on events, each answered as the kernel's perf_event subsystem answers it. dispatch.cpp
// has the table of these functions by system call. Functions that return long return the call's result: a value, or a
// negated errno. Functions that return bool return whether they answered the call; if not, `answer` is unchanged and
// the engine does the call.
#pragma once

#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

using engine::Call;
using engine::Thread;

long perf_event_open(Call& call);                  // open.cpp
long read_event(Call& call, EventIndex event);     // read.cpp
long readv_event(Call& call, EventIndex event);    // read.cpp
long preadv2_event(Call& call, EventIndex event);  // read.cpp
long ioctl_event(Call& call, EventIndex event);    // ioctl.cpp
/// prctl(2) PR_TASK_PERF_EVENTS_ENABLE (`on`) and _DISABLE.
long prctl_events(Call& call, bool on);       // ioctl.cpp
long map_ring(Call& call, EventIndex event);  // map.cpp

/// Called in the child of a fork, which does not have its parent's rings. Reserves their addresses without access, so
/// that no later mapping of the child gets them by chance and an access is SIGSEGV (map.cpp).
void forget_inherited_rings(Process& process);

/// poll(2) and ppoll(2), select(2) and pselect(2); false where no event is among the descriptors.
bool poll_events(Call& call, long& answer);    // poll.cpp
bool select_events(Call& call, long& answer);  // select.cpp

/// Called before wait4(2) and waitid(2). True only if the wait was interrupted; else the engine makes the call.
bool wait_for_child(Call& call, long& answer);  // wait.cpp

/// mremap(2) and mprotect(2) of a mapped ring; false for other memory.
bool remap_ring(Call& call, long& answer);    // map.cpp
bool protect_ring(Call& call, long& answer);  // map.cpp
/// madvise(2) on a ring: answers the advice that Linux refuses there, and the advice that has no visible effect there.
bool advise_ring(Call& call, long& answer);  // map.cpp
/// msync(2) with MS_SYNC and remap_file_pages(2) on a ring: EINVAL.
bool refuse_on_ring(Call& call, long& answer);  // map.cpp

/// True, with EINVAL: unmapping, replacing or protecting this range would split a ring (Linux, perf_mmap_may_split).
bool would_split_ring(Call& call, std::uint64_t start, std::uint64_t bytes, long& answer);  // map.cpp
/// The rings that begin in this range are not mapped any more: forgets them, and reports it to the broker.
void forget_rings(Thread& thread, std::uint64_t start, std::uint64_t bytes);  // map.cpp

/// Whether `address` is in a ring that was mapped writable. Its records are read-only all the same, and a store to them
/// gets SIGBUS, as in the kernel. Takes no lock, because the signal handler asks this.
bool is_protected_record(const Thread& thread, std::uint64_t address);  // map.cpp

}  // namespace anyperf::agent
