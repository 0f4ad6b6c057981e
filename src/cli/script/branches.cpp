// branches.cpp: the texts are those of print_bstack_flags() (tools/perf/builtin-script.c) and branch_type_name()
// (tools/perf/util/branch.c).
#include "cli/script/branches.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>

namespace anyperf::cli {

namespace {

constexpr std::size_t kWords = 3;  // of a branch: from, to, flags

// PERF_BR_COND to PERF_BR_NO_TX of linux/perf_event.h; an unknown type has no name.
constexpr std::array<std::string_view, 15> kTypes{"",         "COND", "UNCOND",  "IND",    "CALL",
                                                  "IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
                                                  "COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX"};
// Those of new_type, if the type is PERF_BR_EXTEND_ABI.
constexpr std::uint64_t kExtended = 15;
constexpr std::array<std::string_view, 8> kNewTypes{"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
                                                    "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5"};

/// The bits of struct perf_branch_entry after the two addresses.
struct Flags {
    bool mispredicted, predicted, in_transaction, aborted;
    std::uint64_t cycles, type, new_type, reserved;

    explicit Flags(std::uint64_t bits)
        : mispredicted((bits & 1) != 0),
          predicted((bits & 2) != 0),
          in_transaction((bits & 4) != 0),
          aborted((bits & 8) != 0),
          cycles(bits >> 4 & 0xffff),
          type(bits >> 20 & 15),
          new_type(bits >> 26 & 15),
          reserved(bits >> 33) {}

    std::string_view type_name() const {
        if (type == kExtended) return new_type < kNewTypes.size() ? kNewTypes[new_type] : std::string_view{};
        return kTypes[type];
    }
};

}  // namespace

std::string branch_flags_text(std::uint64_t bits) {
    const Flags flags{bits};
    return fmt::format("{} cycles {}{}{}{} {:x} {}", flags.cycles, flags.mispredicted ? 'M' : ' ',
                       flags.predicted ? 'P' : ' ', flags.aborted ? 'A' : ' ', flags.in_transaction ? 'T' : ' ',
                       flags.reserved, flags.type_name());
}

void append_branches(const perfdata::Numbers& branches,
                     const std::function<void(std::uint64_t, bool, std::string&)>& add_place, std::string& text) {
    const auto out = std::back_inserter(text);
    for (std::size_t i = 0; i + kWords <= branches.size(); i += kWords) {
        const Flags flags{branches[i + 2]};
        add_place(branches[i], true, text);
        text += '/';
        add_place(branches[i + 1], false, text);
        const char prediction = flags.predicted ? 'P' : flags.mispredicted ? 'M' : '-';
        fmt::format_to(out, "/{}/{}/{}/{}/{} ", prediction, flags.in_transaction ? 'X' : '-', flags.aborted ? 'A' : '-',
                       flags.cycles, flags.type_name());
    }
}

}  // namespace anyperf::cli
