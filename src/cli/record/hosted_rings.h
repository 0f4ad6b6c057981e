// hosted_rings.h: the rings of a run that this process hosts, for the recorder.
#pragma once

#include <memory>

#include "cli/command/backend.h"
#include "recording/ring_source.h"

namespace anyperf::cli::record {

/// `run` must outlive the result.
std::unique_ptr<recording::RingSource> hosted_rings(HostedRun& run);

}  // namespace anyperf::cli::record
