// child.h: runs a function in a forked process, which may drop privileges, set limits and leave descriptors open; and
// opens events in such a process.
#pragma once

#include <functional>
#include <string>

#include "anyperf/error.h"
#include "host/kernel/kernel_probe.h"

namespace anyperf::host {

/// The result of `body` in a forked child; "killed by signal N" if a signal ended the child.
std::string in_child(const std::function<std::string()>& body);

/// Calls perf_event_open(2): the descriptor, or -errno.
int open_event(const OpenCall& call);

/// Tries to open the event. "" if it opens, else "ERRNO: CAUSE FIX: FIX" from why_open_failed().
std::string open_failure(const OpenCall& call);

/// The same in a child that is user and group nobody, without capabilities.
std::string open_failure_as_nobody(const OpenCall& call);

/// Changes the process to user and group nobody and drops its other groups; it stays dumpable.
void become_nobody();

/// A call for a software event that every machine has (dummy:u) on the calling process.
OpenCall dummy();

}  // namespace anyperf::host
