// child.h: runs something in a process of its own, so that it may give up rights, set limits and leave things open.
#pragma once

#include <functional>
#include <string>

#include "anyperf/error.h"
#include "host/kernel.h"

namespace anyperf::host {

/// What `body` returned in a forked child.
std::string in_child(const std::function<std::string()>& body);

/// Opens the event as the system call does: the descriptor, or -errno.
int open_event(const OpenCall& call);

/// Opens the event; "" where it opens, else "ERRNO: cause" with what why_open_failed() found.
std::string explained(const OpenCall& call);

/// As `explained`, as user and group nobody without capabilities.
std::string explained_as_nobody(const OpenCall& call);

/// Gives up all rights but those of nobody. Dumpable as before.
void become_nobody();

/// A software event that every machine has, on the calling process, user mode only.
OpenCall dummy();

}  // namespace anyperf::host
