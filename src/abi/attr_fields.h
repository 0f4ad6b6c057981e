// attr_fields.h: the fields of perf_event_attr in their order (perf_event_open(2); uapi/linux/perf_event.h of
// Linux 6.18). The bit fields of `flags` are in attr_flags.h. Names, checks and printing are driven from these rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "abi/attr_sizes.h"
#include "anyperf/attr.h"

namespace anyperf::abi {

/// How a value reads.
enum class FieldKind : std::uint8_t {
    number,
    signed_number,
    hex,
    type,         ///< attr.type: kTypes, else a PMU's number
    config,       ///< its meaning depends on attr.type
    sample_bits,  ///< kSampleBits
    read_bits,    ///< kReadFormatBits
    flags,        ///< kAttrFlags
    branch_bits,  ///< kBranchBits
    breakpoint,   ///< kBreakpointTypes
    clock,        ///< CLOCK_… of time.h
    aux_bits,     ///< kAuxActions
    reserved,     ///< must be 0, else EINVAL
};

struct AttrField {
    std::string_view name;
    std::size_t offset;
    std::size_t bytes;
    FieldKind kind;
    std::string_view also;  ///< other members of its union, and when they are meant

    /// PERF_ATTR_SIZE_VERn that holds it.
    constexpr const AttrSize& since() const {
        for (const AttrSize& size : kAttrSizes)
            if (offset + bytes <= size.bytes) return size;
        return kAttrSizes.back();
    }
};

inline constexpr std::array kAttrFields{
    AttrField{"type", offsetof(Attr, type), 4, FieldKind::type, ""},
    AttrField{"size", offsetof(Attr, size), 4, FieldKind::number, ""},
    AttrField{"config", offsetof(Attr, config), 8, FieldKind::config, ""},
    AttrField{"sample_period", offsetof(Attr, sample_period), 8, FieldKind::number, "sample_freq (Hz) with freq"},
    AttrField{"sample_type", offsetof(Attr, sample_type), 8, FieldKind::sample_bits, ""},
    AttrField{"read_format", offsetof(Attr, read_format), 8, FieldKind::read_bits, ""},
    AttrField{"flags", offsetof(Attr, flags), 8, FieldKind::flags, "one-bit fields"},
    AttrField{"wakeup_events", offsetof(Attr, wakeup_events), 4, FieldKind::number,
              "wakeup_watermark (bytes) with watermark"},
    AttrField{"bp_type", offsetof(Attr, bp_type), 4, FieldKind::breakpoint, ""},
    AttrField{"config1", offsetof(Attr, config1), 8, FieldKind::hex, "bp_addr, kprobe_func, uprobe_path"},
    AttrField{"config2", offsetof(Attr, config2), 8, FieldKind::hex, "bp_len, kprobe_addr, probe_offset"},
    AttrField{"branch_sample_type", offsetof(Attr, branch_sample_type), 8, FieldKind::branch_bits, ""},
    AttrField{"sample_regs_user", offsetof(Attr, sample_regs_user), 8, FieldKind::hex, ""},
    AttrField{"sample_stack_user", offsetof(Attr, sample_stack_user), 4, FieldKind::number, ""},
    AttrField{"clockid", offsetof(Attr, clockid), 4, FieldKind::clock, ""},
    AttrField{"sample_regs_intr", offsetof(Attr, sample_regs_intr), 8, FieldKind::hex, ""},
    AttrField{"aux_watermark", offsetof(Attr, aux_watermark), 4, FieldKind::number, ""},
    AttrField{"sample_max_stack", offsetof(Attr, sample_max_stack), 2, FieldKind::number, ""},
    AttrField{"__reserved_2", offsetof(Attr, reserved_2), 2, FieldKind::reserved, ""},
    AttrField{"aux_sample_size", offsetof(Attr, aux_sample_size), 4, FieldKind::number, ""},
    AttrField{"aux_action", offsetof(Attr, aux_action), 4, FieldKind::aux_bits, "__reserved_3 before Linux 6.13"},
    AttrField{"sig_data", offsetof(Attr, sig_data), 8, FieldKind::hex, ""},
    AttrField{"config3", offsetof(Attr, config3), 8, FieldKind::hex, ""},
    AttrField{"config4", offsetof(Attr, config4), 8, FieldKind::hex, ""},
};

/// Rows stand end to end and cover the structure: none is missing, none doubled.
static_assert([] {
    std::size_t end = 0;
    for (const AttrField& field : kAttrFields) {
        if (field.offset != end) return false;
        end += field.bytes;
    }
    return end == sizeof(Attr);
}());

/// The field's value, zero-extended (a signed one sign-extended from its own width by who prints it).
std::uint64_t value_of(const Attr& attr, const AttrField& field);

}  // namespace anyperf::abi
