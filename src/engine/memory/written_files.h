// written_files.h: files of which this process executes code, as other programs of the run must know them
// (run/written_files.h).
#pragma once

#include <sys/stat.h>

#include "engine/engine.h"

namespace anyperf::engine {

/// Whether the descriptor is a regular file's, which `about` then describes.
bool is_regular_file(int fd, struct stat& about);

/// Called before code of the file is mapped privately. Whether a process has the file open for writing, so that the
/// code may change unseen. Only programs of the run are known, and processes outside of it that had opened the file
/// before.
bool note_executed(Engine& engine, int fd);

}  // namespace anyperf::engine
