// frames.h: which Python functions are active in a thread.
//
// An interpreter runs a Python function by a C function, _PyEval_EvalFrameDefault(). Up to Python 3.10 each call of a
// Python function is a call of it. From 3.11 on it also runs the Python functions that its function calls, and only
// calls from C (a key function of sorted(), a method `__add__`) call it again. So a call of it has one Python frame or
// more; `c_stack` says which call, by an address in its frame on the C stack.
//
// Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "python/runtime.h"

namespace anyperf::python {

/// A Python frame.
struct Frame {
    std::uint64_t code = 0;
    /// The instruction: its offset in the code, in bytes. Negative: the function has not begun yet.
    std::int64_t offset = 0;
    std::uint64_t c_stack = 0;  ///< 0: unknown; up to 3.10 always
};

/// The frames of the thread, the innermost first. Returns how many. `thread_id`: what pthread_self(3) returns in it.
/// `thread_state`: where its PyThreadState was found before, or 0; the function changes it. To be called while the
/// thread itself is stopped; others may run.
std::size_t walk_frames(const Memory& memory, const Runtime& runtime, std::uint64_t thread_id,
                        std::uint64_t& thread_state, std::span<Frame> out);

}  // namespace anyperf::python
