// findings.h: examines a machine and lists what decides whether performance events work on it, for `anyperf explain`.
// open_failure.h explains one failed call from the same facts.
#pragma once

#include <vector>

#include "host/finding.h"
#include "host/kernel/kernel_probe.h"
#include "host/root.h"

namespace anyperf::host {

/// The findings in a fixed order: kernel, rights, confinement, PMUs, limits, tracing. Reads files below `root`.
/// `kernel`, CPUID and the kernel log are asked only if `root` is this machine. If a file can't be read, the evidence
/// says so; nothing is concluded from it. Never fails.
std::vector<Finding> findings(const Root& root, const Kernel& kernel = this_kernel());

}  // namespace anyperf::host
