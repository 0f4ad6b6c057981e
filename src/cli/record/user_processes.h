// user_processes.h: the processes of a user, for `record -u`.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli::record {

/// The processes that the user's programs run in now, but this one, in ascending order. `user` is a name or a number.
/// Error: there is no such user, or no such process.
Result<std::vector<pid_t>> processes_of_user(const std::string& user);

}  // namespace anyperf::cli::record
