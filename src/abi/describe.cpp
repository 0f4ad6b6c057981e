// describe.cpp: everything here is read from this folder's tables, so a field or bit that a table gains is described
// without a change here. A number that no table knows stays without a meaning: it is shown, and nothing is guessed.
#include "abi/describe.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "abi/aux_actions.h"
#include "abi/branch_types.h"
#include "abi/clocks.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"

namespace anyperf::abi {

namespace {

/// "IP" for "PERF_SAMPLE_IP", without the prefix that all names of a table share.
std::string_view short_name(std::string_view name, std::string_view prefix) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    return name;
}

std::string names_of_bits(const auto& bits, std::uint64_t mask, std::string_view prefix) {
    std::string text;
    for (const auto& row : bits)
        if (mask & row.mask()) {
            if (!text.empty()) text += '|';
            text += short_name(row.name, prefix);
        }
    return text;
}

/// "L1D READ MISS", by the three bytes of the config; empty if one of them has no name.
std::string cache_meaning(std::uint64_t config) {
    const std::string_view cache = name_of(kCaches, config & 0xff);
    const std::string_view op = name_of(kCacheOps, config >> kCacheOpShift & 0xff);
    const std::string_view result = name_of(kCacheResults, config >> kCacheResultShift & 0xff);
    if (cache.empty() || op.empty() || result.empty()) return {};
    return std::string{short_name(cache, "PERF_COUNT_HW_CACHE_")} + ' ' +
           std::string{short_name(op, "PERF_COUNT_HW_CACHE_OP_")} + ' ' +
           std::string{short_name(result, "PERF_COUNT_HW_CACHE_RESULT_")};
}

/// Adds the PMU that bits 32 to 63 of config name. PERF_TYPE_HARDWARE and PERF_TYPE_HW_CACHE name one there on hybrid
/// machines (PERF_PMU_TYPE_SHIFT).
std::string with_pmu(std::string meaning, std::uint64_t config) {
    const std::uint64_t pmu = config >> kPmuTypeShift;
    return pmu == 0 || meaning.empty() ? meaning : meaning + " of the PMU of type " + std::to_string(pmu);
}

std::string config_meaning(const Attr& attr) {
    const std::uint64_t low = attr.config & 0xffffffff;
    switch (attr.type) {
        case kTypeHardware: return with_pmu(std::string{name_of(kHardware, low)}, attr.config);
        case kTypeSoftware: return std::string{name_of(kSoftware, attr.config)};
        case kTypeHwCache: return with_pmu(cache_meaning(low), attr.config);
        case kTypeTracepoint: return "id of the tracepoint";
        default: return {};
    }
}

/// What the number means by the tables of this folder; empty if it needs no explanation or no table has it.
std::string meaning_of(const Attr& attr, const AttrField& field, std::uint64_t value) {
    switch (field.kind) {
        case FieldKind::type: return std::string{name_of(kTypes, value)};
        case FieldKind::config: return config_meaning(attr);
        case FieldKind::sample_bits: return names_of_bits(kSampleBits, value, "PERF_SAMPLE_");
        case FieldKind::read_bits: return names_of_bits(kReadFormatBits, value, "PERF_FORMAT_");
        case FieldKind::branch_bits: return names_of_bits(kBranchBits, value, "PERF_SAMPLE_BRANCH_");
        case FieldKind::breakpoint: return std::string{value == 0 ? "" : name_of(kBreakpointTypes, value)};
        case FieldKind::clock: return std::string{attr.flags & flag("use_clockid") ? name_of(kClocks, value) : ""};
        case FieldKind::aux_bits: return names_of_bits(kAuxActions, value, "");
        default: return {};
    }
}

/// Masks, addresses and codes are shown in hexadecimal, amounts and numbers of enumerations in decimal.
bool reads_in_hex(FieldKind kind) {
    constexpr std::array kDecimal{FieldKind::number, FieldKind::type, FieldKind::breakpoint, FieldKind::clock};
    return std::ranges::find(kDecimal, kind) == kDecimal.end();
}

/// The name of the union member that this attr uses.
std::string_view name_in(const Attr& attr, const AttrField& field) {
    if (field.name == "sample_period" && attr.flags & flag("freq")) return "sample_freq";
    if (field.name == "wakeup_events" && attr.flags & flag("watermark")) return "wakeup_watermark";
    if (attr.type != kTypeBreakpoint) return field.name;
    if (field.name == "config1") return "bp_addr";
    if (field.name == "config2") return "bp_len";
    return field.name;
}

/// One row for each bit field of `flags`, and one for bits that no kernel knows.
void add_flags(const Attr& attr, bool include_zero, std::vector<DescribedField>& fields) {
    for (const AttrFlag& row : kAttrFlags) {
        const std::uint64_t value = (attr.flags & row.mask()) >> row.bit;
        if (value || include_zero)
            fields.push_back({row.name, value, false, false, value ? std::string{row.note} : ""});
    }
    if (attr.flags & kReservedFlags) fields.push_back({"__reserved_1", attr.flags & kReservedFlags, false, true, ""});
}

}  // namespace

std::vector<DescribedField> describe(const Attr& attr, bool include_zero) {
    std::vector<DescribedField> fields;
    for (const AttrField& field : kAttrFields) {
        if (field.kind == FieldKind::flags) {
            add_flags(attr, include_zero, fields);
            continue;
        }
        const std::uint64_t value = value_of(attr, field);
        // A type or config of 0 is an event (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), so it is shown.
        const bool always = field.kind == FieldKind::type || field.kind == FieldKind::config;
        if (value == 0 && !include_zero && !always) continue;
        fields.push_back({name_in(attr, field), value, field.kind == FieldKind::clock, reads_in_hex(field.kind),
                          meaning_of(attr, field, value)});
    }
    return fields;
}

}  // namespace anyperf::abi
