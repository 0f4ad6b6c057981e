// checks.h: the checks that the table of open_failure.cpp lists, grouped by the file that defines them. Each check is
// called only for the errnos that its rows name, in the table's order. Many checks rely on that order: they assume that
// the checks before them found no cause.
#pragma once

#include "host/causes/cause.h"

namespace anyperf::host::causes {

// blocked.cpp: something refuses perf_event_open whatever its arguments.
Found no_perf_events_in_kernel(const Failure& failure);
Found paranoid_beyond_mainline(const Failure& failure);
Found seccomp_filter(const Failure& failure);
Found gvisor(const Failure& failure);
Found security_module(const Failure& failure);

// rights_checks.cpp: this process lacks a right that the event needs.
Found namespaces_need_privilege(const Failure& failure);
Found kernel_needs_privilege(const Failure& failure);
Found physical_addresses_need_privilege(const Failure& failure);
Found kernel_branches_need_privilege(const Failure& failure);
Found probe_needs_privilege(const Failure& failure);
Found cpu_wide_needs_privilege(const Failure& failure);
Found raw_tracepoint_needs_privilege(const Failure& failure);
Found kernel_breakpoint_needs_privilege(const Failure& failure);
Found lockdown_forbids_registers(const Failure& failure);

// task_checks.cpp: the process or thread to measure.
Found negative_pid(const Failure& failure);
Found no_such_process(const Failure& failure);
Found process_has_exited(const Failure& failure);
Found process_of_another_user(const Failure& failure);
Found process_not_dumpable(const Failure& failure);
Found process_with_more_capabilities(const Failure& failure);

// descriptors_checks.cpp: group_fd, the descriptor of a cgroup, and limits on open descriptors.
Found group_fd_not_open(const Failure& failure);
Found group_fd_not_an_event(const Failure& failure);
Found cgroup_fd_not_a_cgroup(const Failure& failure);
Found too_many_descriptors(const Failure& failure);
Found too_many_files(const Failure& failure);

// cpu_checks.cpp: the CPU to measure.
Found cpu_offline(const Failure& failure);
Found cpu_out_of_range(const Failure& failure);
Found cpu_not_served_by_pmu(const Failure& failure);

// pmu_checks.cpp: the PMU that the event is for.
Found no_hardware_pmu(const Failure& failure);
Found no_such_type(const Failure& failure);
Found no_such_software_event(const Failure& failure);
Found probe_target_absent(const Failure& failure);
Found event_unknown_to_pmu(const Failure& failure);
Found pmu_in_exclusive_use(const Failure& failure);
Found breakpoint_slots_used_up(const Failure& failure);
Found no_counter_left_for_group(const Failure& failure);
Found uprobe_shared_with_ftrace(const Failure& failure);

// attr_checks.cpp, attr_rules.cpp: fields of the attr that contradict each other, exceed a limit or are unknown to the
// kernel.
Found attr_larger_than_kernel_supports(const Failure& failure);
Found group_too_large(const Failure& failure);
Found bad_pointer_in_config(const Failure& failure);
Found stack_deeper_than_limit(const Failure& failure);
Found stack_dump_unsupported(const Failure& failure);
Found sample_rate_above_limit(const Failure& failure);
Found attr_contradicts_itself(const Failure& failure);
Found bad_breakpoint(const Failure& failure);
Found no_such_tracepoint(const Failure& failure);
Found bad_open_flags(const Failure& failure);
Found neither_process_nor_cpu(const Failure& failure);

// refused_parts.cpp: each check repeats the call with parts of it left out.
Found refused_by_group(const Failure& failure);
Found refused_part(const Failure& failure);
Found refused_config(const Failure& failure);

}  // namespace anyperf::host::causes
