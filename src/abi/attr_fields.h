// attr_fields.h: the fields of perf_event_attr in their order in memory (perf_event_open(2); uapi/linux/perf_event.h of
// Linux 6.19), as a table. The bit fields share the word `flags` and are listed in attr_flags.h.
//
// describe.cpp prints an attr by these rows, and perfdata/read_attr.cpp turns the bytes of one that was written with
// the other byte order. A new field of the kernel is a new row; the assertion below fails if a row is missing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "abi/attr_sizes.h"
#include "anyperf/attr.h"

namespace anyperf::abi {

/// What a field contains, and so how it is printed.
enum class FieldKind : std::uint8_t {
    number,
    hex,
    type,         ///< attr.type: one of kTypes, otherwise the dynamic type of a PMU in sysfs
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

/// One field: its name in the header, its place in the structure, and how it is printed.
struct AttrField {
    std::string_view name;  ///< in the kernel's header; of a union, the member that Attr has
    std::size_t offset;
    std::size_t bytes;
    FieldKind kind;
    std::string_view alternatives;  ///< its other names, and when they apply

    /// The oldest published structure that contains the whole field.
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

// The rows cover the structure without a gap or an overlap, so no field is missing or listed twice.
static_assert([] {
    std::size_t end = 0;
    for (const AttrField& field : kAttrFields) {
        if (field.offset != end) return false;
        end += field.bytes;
    }
    return end == sizeof(Attr);
}());

/// The field's value, zero-extended to 64 bits. The caller sign-extends a signed field from its own width
/// (AttrField::bytes).
std::uint64_t value_of(const Attr& attr, const AttrField& field);

}  // namespace anyperf::abi
