// registers.cpp: the form is that of perf_sample__fprintf_regs() (tools/perf/builtin-script.c), the names are those of
// arch/x86/include/uapi/asm/perf_regs.h, as perf_reg_name() has them.
#include "cli/script/registers.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <iterator>
#include <string_view>

namespace anyperf::cli {

namespace {

constexpr std::array<std::string_view, 24> kNames{"AX", "BX",    "CX",  "DX",  "SI",  "DI",  "BP",  "SP",
                                                  "IP", "FLAGS", "CS",  "SS",  "DS",  "ES",  "FS",  "GS",
                                                  "R8", "R9",    "R10", "R11", "R12", "R13", "R14", "R15"};

}  // namespace

std::string register_name(std::size_t bit) {
    return bit < kNames.size() ? std::string{kNames[bit]} : fmt::format("r{}", bit);
}

void append_registers(std::uint64_t abi, std::uint64_t mask, const perfdata::Numbers& values, bool are_of_x86,
                      std::string& text) {
    if (abi == 0 || values.empty()) return;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, " ABI:{} ", abi);
    for (std::size_t i = 0; i < values.size() && mask != 0; ++i, mask &= mask - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(mask));
        fmt::format_to(out, "{:>5}:0x{:x} ", are_of_x86 ? register_name(bit) : fmt::format("r{}", bit), values[i]);
    }
}

}  // namespace anyperf::cli
