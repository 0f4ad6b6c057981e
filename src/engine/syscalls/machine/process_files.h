// process_files.h: files below /proc about a process of a deterministic run. They are the kernel's, with other values
// where those depend on chance: ids, times, memory, and whether the process runs or sleeps.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/engine.h"
#include "engine/syscalls/machine/file_text.h"
#include "engine/syscalls/proc_path.h"

namespace anyperf::engine {

/// Whether the path is one of these files of some process.
bool is_process_file(const ProcPath& path);

/// What the program finds in the file, which is open as `fd`. False: it is another file, or of a process outside.
bool put_process_file(Thread& thread, std::string_view path, std::uint64_t fd, FileText& out);

}  // namespace anyperf::engine
