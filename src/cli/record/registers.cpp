#include "cli/record/registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "abi/registers.h"
#include "cli/command/target_options.h"
#include "recording/sampling.h"

namespace anyperf::cli::record {

namespace {

std::uint64_t bit_of(std::string_view name) {
    const auto is_same = [&](const abi::Constant& each) {
        return std::ranges::equal(std::string_view{each.name}, name, {}, {},
                                  [](unsigned char letter) { return std::tolower(letter); });
    };
    const auto row = std::ranges::find_if(abi::kX86Registers, is_same);
    return row == abi::kX86Registers.end() ? 0 : (std::uint64_t{1} << row->value) & recording::kGeneralRegisters;
}

std::string known_names() {
    std::string names;
    for (const abi::Constant& each : abi::kX86Registers)
        if ((std::uint64_t{1} << each.value & recording::kGeneralRegisters) != 0)
            fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ",", each.name);
    return names;
}

}  // namespace

Result<std::uint64_t> register_mask(std::string_view option, const std::string& names) {
    if (names.empty()) return 0;
    if (names == kAllRegisters) return recording::kGeneralRegisters;
    std::uint64_t mask = 0;
    for (const std::string_view name : split_at_commas(names)) {
        const std::uint64_t bit = bit_of(name);
        if (bit == 0)
            return std::unexpected(bad_option(fmt::format("{}={}", option, names),
                                              fmt::format("'{}' is not a register that the kernel samples", name),
                                              "give some of " + known_names()));
        mask |= bit;
    }
    return mask;
}

}  // namespace anyperf::cli::record
