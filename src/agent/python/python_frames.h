// python_frames.h: the Python functions in the call chain of a sample. The interpreter's frames are read from the
// memory of the program, at the instruction at which the thread has stopped for the sample. So they are consistent with
// the C frames, except at the few instructions with which the interpreter enters and leaves a frame.
//
// A chain shows a Python function as the caller of what it calls: the C function that runs it,
// _PyEval_EvalFrameDefault(), is the innermost of its callees.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "agent/process.h"
#include "agent/stack_limit.h"
#include "engine/instrumentation/open_calls.h"
#include "python/runtime.h"

namespace anyperf::agent {

/// A Python frame of a chain.
struct PythonFrame {
    std::uint64_t address;  ///< python/function_range.h
    std::uint64_t c_stack;  ///< an address in the C frame that runs it; ~0: unknown
};

struct PythonFrames {
    const python::Runtime* runtime = nullptr;
    std::array<PythonFrame, kDeepestStack> frames;  // not cleared: most of it is not used
    std::size_t count = 0;
    bool are_all = false;  ///< the outermost frame is among them
};

/// Whether the chains of the thread's samples may have the frames of a Python program.
bool wants_python_frames(const engine::Thread& thread);

/// Reads the frames of the thread. Sends requests to the broker, so no lock may be held.
void gather_python_frames(engine::Thread& thread, PythonFrames& out);

/// Writes the chain: the first of `calls`, which is the sample's own address, then the other calls and the Python
/// frames, the innermost first. Returns how many addresses there are. `are_all`: the outermost call is among `calls`.
std::size_t merge_python_frames(std::span<const engine::OpenCall> calls, bool are_all, PythonFrames& python,
                                std::span<std::uint64_t> out);

}  // namespace anyperf::agent
