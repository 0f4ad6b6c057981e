// calls.h: system calls on events, each answered as the kernel's perf_event subsystem does.
#pragma once

#include "engine/syscalls/table.h"
#include "resident/process.h"

namespace anyperf::resident {

using engine::Call;
using engine::Thread;

long perf_event_open(Call& call);                   // open.cpp
long read_event(Call& call, EventIndex event);      // read.cpp
long readv_event(Call& call, EventIndex event);     // read.cpp
long control_event(Call& call, EventIndex event);   // control.cpp
long switch_events(Call& call, bool on);            // control.cpp
long map_event(Call& call, EventIndex event);       // map.cpp
long stat_event(Call& call, std::uint64_t buffer);  // open.cpp
bool readlink_event(Call& call, long& answer);      // open.cpp; of /proc/self/fd/N

bool poll_events(Call& call, long& answer);    // poll.cpp; false where no event is among them
bool select_events(Call& call, long& answer);  // select.cpp; the same
bool epoll_control(Call& call, long& answer);  // poll.cpp

/// mremap(2) and mprotect(2) where they name a mapped ring; false where they don't.
bool remap_event(Call& call, long& answer);    // map.cpp
bool protect_event(Call& call, long& answer);  // map.cpp

/// Ends the mappings of rings within [start, start + bytes). False where it would cut one: munmap(2) then fails.
bool unmap_events(Call& call, std::uint64_t start, std::uint64_t bytes, long& answer);  // map.cpp

}  // namespace anyperf::resident
