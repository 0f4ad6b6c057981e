// finders.h: the functions that each look at one subject and make at most one finding, grouped by the file that defines
// them. Private to host; findings.cpp lists them in the order in which they are shown.
#pragma once

#include <optional>

#include "host/finding.h"
#include "host/machine_facts.h"

namespace anyperf::host::findings_of {

/// Empty if the subject doesn't exist or doesn't matter on this machine.
using Found = std::optional<Finding>;

// kernel_findings.cpp

/// Whether the kernel has performance events, and its release.
Found kernel(const Facts& facts);
/// Kinds of events that the kernel was built without (kernel_config.h).
Found kernel_options(const Facts& facts);

// rights_findings.cpp

/// What perf_event_paranoid allows this process to measure, given its capabilities.
Found paranoid(const Facts& facts);
/// The capabilities that matter for events, held and lacking.
Found capabilities(const Facts& facts);
/// Whether processes of other users can be measured.
Found other_processes(const Facts& facts);
/// Whether addresses of kernel functions can be resolved to names (kptr_restrict).
Found kernel_addresses(const Facts& facts);

// confinement_findings.cpp

/// Whether something refuses perf_event_open whatever its arguments. On this machine a child process tries the call.
Found seccomp(const Facts& facts);
/// The kind of container, or namespaces other than the machine's.
Found container(const Facts& facts);
/// A user namespace in which capabilities don't count for events.
Found user_namespace(const Facts& facts);
/// The kernel's lockdown mode.
Found lockdown(const Facts& facts);
/// SELinux and other security modules. An active module need not refuse events.
Found security_modules(const Facts& facts);

// pmu_findings.cpp

/// The hypervisor, which decides whether a guest has hardware counters.
Found hypervisor(const Facts& facts);
/// Whether the kernel offers a PMU of the cores, and if not, why.
Found hardware_pmu(const Facts& facts);
/// How many counters there are, and whether the NMI watchdog holds one.
Found counters(const Facts& facts);
/// Whether rdpmc is allowed in user space.
Found user_space_reads(const Facts& facts);
/// The PMUs besides the core PMUs, by name.
Found other_pmus(const Facts& facts);
/// Other processes that have events open. On this machine only.
Found holders(const Facts& facts);

// limits_findings.cpp

/// Memory that rings may lock.
Found locked_memory(const Facts& facts);
/// RLIMIT_NOFILE.
Found open_files(const Facts& facts);
/// perf_event_max_sample_rate, which the kernel lowers by itself.
Found sample_rate(const Facts& facts);
/// perf_event_max_stack.
Found stack_depth(const Facts& facts);

// tracing_findings.cpp

/// Whether tracepoints exist and their names can be resolved.
Found tracefs(const Facts& facts);
/// Whether the kernel has the PMU `breakpoint`.
Found breakpoints(const Facts& facts);
/// Whether uprobes and kprobes exist and this process may open them.
Found probes(const Facts& facts);

}  // namespace anyperf::host::findings_of
