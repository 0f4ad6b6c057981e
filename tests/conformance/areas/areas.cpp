// areas.cpp: the list of all areas. Their names are parts of the names of ctest's tests, of the keys in differences.tsv
// and of the headings in docs/conformance.md. CMakeLists.txt reads the rows below.
#include "areas/areas.h"

namespace conformance {

const std::vector<Area>& areas() {
    static const std::vector<Area> all{
        {"attr_size", attr_size_cases},
        {"attr", attr_field_cases},
        {"attr_sampling", attr_sampling_cases},
        {"open_order", open_order_cases},
        {"open_target", open_target_cases, Rehearsal::once},
        {"open_flags", open_flags_cases, Rehearsal::once},
        {"open_group", open_group_cases},
        {"descriptor", descriptor_cases},
        {"descriptor_travel", descriptor_travel_cases},
        {"submitted", submitted_cases, Rehearsal::once},
        {"types", type_cases},
        {"pmu_files", pmu_file_cases},
        {"read_format", read_format_cases, Rehearsal::once},
        {"times", times_cases, Rehearsal::once},
        {"ioctl_basic", ioctl_basic_cases, Rehearsal::once},
        {"ioctl_group", ioctl_group_cases, Rehearsal::once},
        {"ioctl_period", ioctl_period_cases, Rehearsal::once},
        {"ioctl_output", ioctl_output_cases, Rehearsal::once},
        {"ioctl_special", ioctl_special_cases},
        {"ring_mapping", ring_mapping_cases, Rehearsal::once},
        {"ring_protocol", ring_protocol_cases, Rehearsal::once},
        {"ring_wakeup", ring_wakeup_cases, Rehearsal::once},
        {"sample", sample_field_cases, Rehearsal::once},
        {"sample_state", sample_state_cases, Rehearsal::once},
        {"records_task", record_task_cases, Rehearsal::once},
        {"records_mmap", record_mmap_cases},
        {"records_other", record_other_cases},
        {"sample_rate", sample_rate_cases, Rehearsal::once},
        {"inherit", inherit_cases, Rehearsal::once},
        {"exec", exec_cases},
        {"signals", signal_cases, Rehearsal::once},
        {"software", software_cases, Rehearsal::once},
        {"breakpoint", breakpoint_cases, Rehearsal::once},
        {"tracepoint", tracepoint_cases, Rehearsal::once},
        {"uprobe", uprobe_cases},
        {"uprobe_hits", uprobe_hit_cases},
        {"cpus", cpu_cases, Rehearsal::once},
        {"permissions", permission_cases},
        {"hardware_open", hardware_open_cases},
        {"hardware_count", hardware_count_cases, Rehearsal::once},
        {"hardware_scarce", hardware_scarce_cases},
        {"hardware_sample", hardware_sample_cases, Rehearsal::once},
    };
    return all;
}

}  // namespace conformance
