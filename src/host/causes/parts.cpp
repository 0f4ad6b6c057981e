// parts.cpp: makes the parts of a call: one for each bit of sample_type and read_format and each bit field, by the
// tables of src/abi; one for all bits of a word that have no name; and one for each other optional field.
#include "host/causes/parts.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"

namespace anyperf::host::causes {

namespace {

using abi::Attr;

/// What is known about a part that PMUs or kernels often refuse.
struct Hint {
    std::string_view name;
    std::string_view text;
};

constexpr std::array kHints{
    Hint{"precise_ip", "it needs a sample_period, and the PMU's caps/max_precise is its maximum"},
    Hint{"PERF_SAMPLE_BRANCH_STACK",
         "it needs a CPU with branch records (LBR, BRS), and a PMU whose caps/branches is not 0"},
    Hint{"sample_period", "the PMU can count, but has no interrupt to sample with"},
    Hint{"aux_output", "it needs a leader with an AUX area (intel_pt)"},
    Hint{"clockid", "hardware events, breakpoints and tracepoints take MONOTONIC (1) and MONOTONIC_RAW (4) only"},
    Hint{"exclude_user", "this PMU can't count modes separately"},
    Hint{"exclude_kernel", "this PMU can't count modes separately"},
    Hint{"exclude_hv", "this PMU can't count modes separately"},
    Hint{"exclude_idle", "this PMU can't count modes separately"},
    Hint{"exclude_host", "this PMU can't count host and guests separately"},
    Hint{"exclude_guest", "this PMU can't count host and guests separately"},
};

std::string hint(std::string_view name) {
    for (const Hint& row : kHints)
        if (row.name == name) return std::string{row.text};
    return {};
}

/// Adds a part for each bit of `set` that `table` names, and one for the rest.
template <class Table>
void add_bits(std::vector<Part>& parts, const Table& table, std::uint64_t Attr::* word, std::string_view field,
              std::uint64_t set) {
    std::uint64_t unnamed = set;
    for (const auto& row : table) {
        unnamed &= ~row.mask();
        if ((set & row.mask()) == 0) continue;
        parts.push_back({fmt::format("{} {}", field, row.name), hint(row.name),
                         [word, mask = row.mask()](OpenCall& call) { call.attr.*word &= ~mask; }});
    }
    if (unnamed != 0)
        parts.push_back({fmt::format("{} bits {:#x}, which are not defined", field, unnamed), "",
                         [word, unnamed](OpenCall& call) { call.attr.*word &= ~unnamed; }});
}

/// The bit fields, except those that are not parts of their own: no kernel refuses `disabled`, use_clockid belongs to
/// the part clockid, and freq to sample_period.
void add_flags(std::vector<Part>& parts, const Attr& attr) {
    constexpr std::uint64_t kNotParts = abi::flag("disabled") | abi::flag("use_clockid") | abi::flag("freq");
    add_bits(parts, abi::kAttrFlags, &Attr::flags, "attr", attr.flags & ~kNotParts);
}

/// An optional field that is not a set of named bits.
struct Word {
    std::string_view name;
    std::uint64_t (*value)(const Attr&);
    void (*clear)(Attr&);      ///< also clears the bits that make no sense without the field
    bool is_location = false;  ///< for a breakpoint or a probe, the field says where it is
};

constexpr std::array kWords{
    Word{"sample_period", [](const Attr& a) { return a.sample_period; },
         [](Attr& a) { a.sample_period = 0, a.flags &= ~abi::flag("freq"), a.sample_type = 0; }},
    Word{"clockid", [](const Attr& a) { return a.flags & abi::flag("use_clockid"); },
         [](Attr& a) { a.clockid = 0, a.flags &= ~abi::flag("use_clockid"); }},
    Word{"config1", [](const Attr& a) { return a.config1; }, [](Attr& a) { a.config1 = 0; }, true},
    Word{"config2", [](const Attr& a) { return a.config2; }, [](Attr& a) { a.config2 = 0; }, true},
    Word{"config3", [](const Attr& a) { return a.config3; }, [](Attr& a) { a.config3 = 0; }},
    Word{"config4", [](const Attr& a) { return a.config4; }, [](Attr& a) { a.config4 = 0; }},
    Word{"branch_sample_type", [](const Attr& a) { return a.branch_sample_type; },
         [](Attr& a) { a.branch_sample_type = 0, a.sample_type &= ~abi::sample("PERF_SAMPLE_BRANCH_STACK"); }},
    Word{"sample_regs_user", [](const Attr& a) { return a.sample_regs_user; },
         [](Attr& a) { a.sample_regs_user = 0, a.sample_type &= ~abi::sample("PERF_SAMPLE_REGS_USER"); }},
    Word{"sample_regs_intr", [](const Attr& a) { return a.sample_regs_intr; },
         [](Attr& a) { a.sample_regs_intr = 0, a.sample_type &= ~abi::sample("PERF_SAMPLE_REGS_INTR"); }},
    Word{"sample_max_stack", [](const Attr& a) { return std::uint64_t{a.sample_max_stack}; },
         [](Attr& a) { a.sample_max_stack = 0; }},
    Word{"aux_sample_size", [](const Attr& a) { return std::uint64_t{a.aux_sample_size}; },
         [](Attr& a) { a.aux_sample_size = 0; }},
    Word{"aux_action", [](const Attr& a) { return std::uint64_t{a.aux_action}; }, [](Attr& a) { a.aux_action = 0; }},
    Word{"reserved_2", [](const Attr& a) { return std::uint64_t{a.reserved_2}; }, [](Attr& a) { a.reserved_2 = 0; }},
};

}  // namespace

// Without all parts, only type and config remain, and the location of a breakpoint or a probe: elsewhere it would be
// another event.
std::vector<Part> parts_of(const OpenCall& call, bool config1_is_location) {
    std::vector<Part> parts;
    const Attr& attr = call.attr;
    add_bits(parts, abi::kSampleBits, &Attr::sample_type, "sample_type", attr.sample_type);
    add_bits(parts, abi::kReadFormatBits, &Attr::read_format, "read_format", attr.read_format);
    add_flags(parts, attr);
    for (const Word& word : kWords) {
        if (word.value(attr) == 0 || (word.is_location && config1_is_location)) continue;
        parts.push_back({fmt::format("attr.{} ({:#x})", word.name, word.value(attr)), hint(word.name),
                         [clear = word.clear](OpenCall& without) { clear(without.attr); }});
    }
    return parts;
}

}  // namespace anyperf::host::causes
