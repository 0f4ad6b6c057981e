#include "events/syntax/branch_filter.h"

#include <algorithm>

#include "abi/branch_types.h"

namespace anyperf::events {

Parsed<std::uint64_t> parse_branch_filter(const Term& term) {
    std::string_view left = term.value.value_or("");
    std::uint64_t bits = 0;
    while (true) {
        const std::size_t end = left.find_first_of("|:,");
        const std::string_view word = left.substr(0, end);
        const auto row = std::ranges::find(abi::kBranchBits, word, &abi::BranchBit::word);
        if (row == abi::kBranchBits.end()) {
            std::string known;
            for (const abi::BranchBit& bit : abi::kBranchBits)
                known += (known.empty() ? "" : ", ") + std::string{bit.word};
            return parse_error(word.empty() ? term.text : word, in_quotes(word) + " is not a kind of branch",
                               "use " + known);
        }
        bits |= 1ull << row->bit;
        if (end == std::string_view::npos) break;
        left.remove_prefix(end + 1);
    }
    // Bit 3 is PERF_SAMPLE_BRANCH_ANY.
    return (bits & ~abi::kBranchPrivileges) == 0 ? bits | 1ull << 3 : bits;
}

}  // namespace anyperf::events
