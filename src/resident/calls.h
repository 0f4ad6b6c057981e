// calls.h: system calls on events, each answered as the kernel's perf_event subsystem does.
#pragma once

#include "engine/syscalls/table.h"
#include "resident/process.h"

namespace anyperf::resident {

using engine::Call;
using engine::Thread;

long perf_event_open(Call& call);                  // open.cpp
long read_event(Call& call, EventIndex event);     // read.cpp
long readv_event(Call& call, EventIndex event);    // read.cpp
long preadv2_event(Call& call, EventIndex event);  // read.cpp
long control_event(Call& call, EventIndex event);  // control.cpp
long switch_events(Call& call, bool on);           // control.cpp
long map_event(Call& call, EventIndex event);      // map.cpp

bool poll_events(Call& call, long& answer);    // poll.cpp; false where no event is among them
bool select_events(Call& call, long& answer);  // select.cpp; the same

/// wait4(2) and waitid(2), before they are done: true where the look has already been answered.
bool wait_for_child(Call& call, long& answer);  // wait.cpp

/// mremap(2) and mprotect(2) where they name a mapped ring; false where they don't.
bool remap_event(Call& call, long& answer);    // map.cpp
bool protect_event(Call& call, long& answer);  // map.cpp
/// madvise(2), msync(2) and remap_file_pages(2) on a ring, where the kernel refuses them.
bool advise_event(Call& call, long& answer);    // map.cpp
bool refuse_on_ring(Call& call, long& answer);  // map.cpp

/// A part of a ring alone would be unmapped, replaced or protected: EINVAL (Linux, perf_mmap_may_split).
bool splits_ring(Call& call, std::uint64_t start, std::uint64_t bytes, long& answer);  // map.cpp
/// The rings in this range are not mapped any more.
void forget_rings(Thread& thread, std::uint64_t start, std::uint64_t bytes);  // map.cpp

}  // namespace anyperf::resident
