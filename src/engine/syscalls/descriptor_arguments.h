// descriptor_arguments.h: which arguments of system calls are file descriptors, so that those of the run are as if they
// were not there, whatever the application asks of them.
#pragma once

#include "engine/syscalls/table.h"

namespace anyperf::engine {

/// Whether the call is about a descriptor of the run's, which the application does not have: EBADF.
bool names_hidden(const Call& call);

}  // namespace anyperf::engine
