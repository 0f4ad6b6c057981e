// interpreter_frames.h: leaves the frames of an interpreter out of stacks that show the functions of its program, for
// those who look for time in their Python code and not in how the interpreter runs it.
#pragma once

#include <vector>

#include "analysis/processes.h"
#include "analysis/raw_stacks.h"

namespace anyperf::analysis {

/// Removes the frames of the files that run Python functions from a stack, the innermost frame first. A stack without
/// Python functions stays as it is. So do frames of other files: of extension modules and of the C library.
void remove_interpreter(const Processes& processes, SpaceId space, std::vector<RawFrame>& frames);

}  // namespace anyperf::analysis
