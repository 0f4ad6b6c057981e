// shown_directories.h: the directories of the presented machine (redirected_files.h) as working directories and as what
// descriptors refer to. The kernel has the directory of the run's copy there; programs see the path of which it is the
// copy.
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// chdir(2). True if the new working directory or the old one is of the presented machine, and the call was answered.
bool change_directory(engine::Call& call, long& answer);

/// getcwd(2) in a directory of the copy. False in any other.
bool current_directory(engine::Call& call, long& answer);

/// readlink(2) and readlinkat(2) of a link below /proc, such as /proc/self/cwd and /proc/self/fd/N, to a file of the
/// copy. False: the link leads elsewhere.
bool link_to_directory(engine::Call& call, long& answer);

}  // namespace anyperf::agent
