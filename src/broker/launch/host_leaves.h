// host_leaves.h: the host's CPUID, as far as it is the same on all CPUs, for the programs of a run.
#pragma once

#include "run/facts.h"

namespace anyperf::broker {

/// Fills RunHeader::host_leaves, without those of which the presented CPU (RunHeader::identity) keeps nothing. Nothing
/// on a machine with CPUs of several kinds.
void list_host_leaves(run::RunHeader& header);

}  // namespace anyperf::broker
