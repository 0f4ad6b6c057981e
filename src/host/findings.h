// findings.h: everything that is known about why performance events do or don't work on a machine. The causes of
// open_failure.h rest on the same facts.
#pragma once

#include <vector>

#include "host/finding.h"
#include "host/kernel.h"
#include "host/root.h"

namespace anyperf::host {

/// In the order in which they matter: the kernel, rights, confinement, the PMU, limits, tracing. Reads files below
/// `root`; asks `kernel`, CPUID and the kernel log only where that is the machine we run on. A file that can't be read
/// is said to be so in the evidence; nothing is guessed from it.
std::vector<Finding> findings(const Root& root, const Kernel& kernel = this_kernel());

}  // namespace anyperf::host
