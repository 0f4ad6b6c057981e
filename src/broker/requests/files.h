// files.h: requests about the presented machine's files.
#pragma once

#include "broker/requests/request_context.h"

namespace anyperf::broker {

/// Makes the files that the thread is about to open. Answer: 1, or 0 if there are none.
RequestAnswer on_files(RequestContext& request);
/// A write to uprobe_events: lines that define or remove probes. Empty lines and comments are skipped; the first error
/// ends it, after the lines before have taken effect.
RequestAnswer on_define_probes(RequestContext& request);

}  // namespace anyperf::broker
