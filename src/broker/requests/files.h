// files.h: requests about the presented machine's files.
#pragma once

#include "broker/requests/request_context.h"

namespace anyperf::broker {

/// Makes the part of the presented files that the thread is about to open (argument: which, below kFileParts). Answer:
/// 1, or 0 if there is no such part or it could not be made.
RequestAnswer on_files(RequestContext& request);

/// Serves a write to uprobe_events: lines that define or remove probes. If the argument is 1, removes all probes first.
/// Skips empty lines and comments. Stops at the first error; the lines before it have taken effect. Answer: the number
/// of bytes used.
RequestAnswer on_define_probes(RequestContext& request);

/// Serves a write to the PMU's file `rdpmc`: a number, by which threads may read counters (run::RunHeader::rdpmc) or
/// not. Threads that must not any more reach a safepoint. Answer: the number of bytes used, or EINVAL for what is not
/// one of the values.
RequestAnswer on_allow_rdpmc(RequestContext& request);

}  // namespace anyperf::broker
