#include "agent/python/python_frames.h"

#include <algorithm>

#include "agent/agent_state.h"
#include "agent/python/python_functions.h"
#include "python/frames.h"

namespace anyperf::agent {

using engine::OpenCall;
using engine::Thread;

namespace {

/// The C library's pthread_self(3): the base of %fs, where it keeps its own description of the thread.
std::uint64_t pthread_self_of_program() {
    std::uint64_t base = 0;
    constexpr std::uint64_t kGetFs = 0x1003;  // ARCH_GET_FS (arch_prctl(2))
    engine::kernel_call(__NR_arch_prctl, kGetFs, engine::address_of(&base));
    return base;
}

/// Up to Python 3.10 each Python frame has a call of _PyEval_EvalFrameDefault() of its own, and says nothing of it. So
/// the frames and these calls are paired. From the outermost on if both are complete: a call that has just begun has no
/// frame yet.
void place_by_calls(std::span<const OpenCall> calls, bool are_all, PythonFrames& python) {
    std::array<std::uint64_t, kDeepestStack + 1> places;
    std::size_t count = 0;
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (python.runtime->is_eval(calls[i].return_address - (i == 0 ? 0 : 1))) places[count++] = calls[i].caller_rsp;
    const bool from_outermost = are_all && python.are_all;
    for (std::size_t i = 0; i < python.count; ++i) {
        const std::size_t frame = from_outermost ? python.count - 1 - i : i;
        const std::size_t call = from_outermost ? count - 1 - i : i;
        python.frames[frame].c_stack = i < count        ? places[call]
                                       : from_outermost ? calls[0].caller_rsp
                                                        : ~std::uint64_t{0};
    }
}

}  // namespace

bool wants_python_frames(const Thread& thread) {
    return thread.engine->run != nullptr && thread.engine->run->python_frames != 0 && may_run_python(thread);
}

void gather_python_frames(Thread& thread, PythonFrames& out) {
    out.runtime = find_python(thread);
    if (out.runtime == nullptr) return;
    std::array<python::Frame, kDeepestStack> found;
    const std::size_t count = python::walk_frames(application_memory(), *out.runtime, pthread_self_of_program(),
                                                  thread.agent->python_thread, found);
    out.are_all = count < found.size();
    for (const python::Frame& frame : std::span{found}.first(count)) {
        const std::uint64_t address = address_of_frame(thread, frame);
        if (address == 0) {
            out.are_all = false;
            break;
        }
        out.frames[out.count++] = {address, frame.c_stack != 0 ? frame.c_stack : ~std::uint64_t{0}};
    }
}

std::size_t merge_python_frames(std::span<const OpenCall> calls, bool are_all, PythonFrames& python,
                                std::span<std::uint64_t> out) {
    if (python.count != 0 && python.runtime->layout.has_separate_calls()) place_by_calls(calls, are_all, python);
    const std::span frames = std::span{python.frames}.first(python.count);
    std::size_t count = 0, next = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        // The C frame with the address `c_stack` is that of the last call whose rsp is not above it.
        while (i != 0 && next < frames.size() && frames[next].c_stack < calls[i].caller_rsp && count < out.size())
            out[count++] = frames[next++].address;
        if (count < out.size()) out[count++] = calls[i].return_address;
    }
    while (next < frames.size() && count < out.size()) out[count++] = frames[next++].address;
    return count;
}

}  // namespace anyperf::agent
