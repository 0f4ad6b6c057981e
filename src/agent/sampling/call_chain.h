// call_chain.h: PERF_SAMPLE_CALLCHAIN: the callers of a sample's instruction. In a run with RunHeader::exact_callers
// they are the calls that have not returned (engine/instrumentation/open_calls.h), else what frame pointers show, as
// the kernel does.
#pragma once

#include <array>

#include "agent/process.h"
#include "agent/stack_limit.h"

namespace anyperf::agent {

struct PythonFrames;  // python/python_frames.h

/// The entries of a chain, with the marker PERF_CONTEXT_USER, which sample_max_stack does not count.
using CallChain = std::array<std::uint64_t, kDeepestStack + 1>;

/// Whether samples of the event have the open calls, so that the thread's code must note them.
bool wants_open_calls(const engine::Thread& thread, const EventPage& event);

/// Fills `out` with the chain of a sample at `ip`, the innermost first. Returns the number of entries. `python`: the
/// thread's Python frames; null: they are not wanted.
std::size_t gather_callchain(engine::Thread& thread, const EventPage& event, std::uint64_t ip, PythonFrames* python,
                             CallChain& out);

}  // namespace anyperf::agent
