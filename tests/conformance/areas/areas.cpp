// areas.cpp: all areas. The names are those of ctest, of the tables and of docs/conformance.md.
#include "areas/areas.h"

namespace conformance {

const std::vector<Area>& areas() {
    static const std::vector<Area> all{
        {"attr_size", attr_size_cases},
        {"attr", attr_field_cases},
        {"attr_sampling", attr_sampling_cases},
        {"open_order", open_order_cases},
        {"open_target", open_target_cases},
        {"open_flags", open_flags_cases},
        {"open_group", open_group_cases},
        {"descriptor", descriptor_cases},
        {"types", type_cases},
        {"read_format", read_format_cases},
        {"times", times_cases},
        {"ioctl_basic", ioctl_basic_cases},
        {"ioctl_group", ioctl_group_cases},
        {"ioctl_period", ioctl_period_cases},
        {"ioctl_output", ioctl_output_cases},
        {"ioctl_special", ioctl_special_cases},
        {"ring_mapping", ring_mapping_cases},
        {"ring_protocol", ring_protocol_cases},
        {"ring_wakeup", ring_wakeup_cases},
    };
    return all;
}

}  // namespace conformance
