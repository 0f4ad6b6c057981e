// areas.h: the functions that return the cases of each area; areas.cpp lists them in the order of the manual.
#pragma once

#include <vector>

#include "suite/case.h"

namespace conformance {

std::vector<Case> attr_size_cases();
std::vector<Case> attr_field_cases();
std::vector<Case> attr_sampling_cases();
std::vector<Case> open_order_cases();
std::vector<Case> open_target_cases();
std::vector<Case> open_flags_cases();
std::vector<Case> open_group_cases();
std::vector<Case> descriptor_cases();
std::vector<Case> descriptor_travel_cases();
std::vector<Case> submitted_cases();
std::vector<Case> type_cases();
std::vector<Case> pmu_file_cases();
std::vector<Case> read_format_cases();
std::vector<Case> times_cases();
std::vector<Case> ioctl_basic_cases();
std::vector<Case> ioctl_group_cases();
std::vector<Case> ioctl_period_cases();
std::vector<Case> ioctl_output_cases();
std::vector<Case> ioctl_special_cases();
std::vector<Case> ring_mapping_cases();
std::vector<Case> ring_protocol_cases();
std::vector<Case> ring_wakeup_cases();
std::vector<Case> sample_field_cases();
std::vector<Case> sample_state_cases();
std::vector<Case> record_task_cases();
std::vector<Case> record_mmap_cases();
std::vector<Case> record_other_cases();
std::vector<Case> sample_rate_cases();
std::vector<Case> inherit_cases();
std::vector<Case> exec_cases();
std::vector<Case> signal_cases();
std::vector<Case> software_cases();
std::vector<Case> breakpoint_cases();
std::vector<Case> tracepoint_cases();
std::vector<Case> uprobe_cases();
std::vector<Case> uprobe_hit_cases();
std::vector<Case> cpu_cases();
std::vector<Case> permission_cases();
std::vector<Case> hardware_open_cases();
std::vector<Case> hardware_count_cases();
std::vector<Case> hardware_scarce_cases();
std::vector<Case> hardware_sample_cases();

}  // namespace conformance
