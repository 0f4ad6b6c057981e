// computed.h: `anyperf diff` with perf's options that choose a computation and columns (-c, -o, -p, -F, -b, -t): the
// table of perf 6.1 (tools/perf/builtin-diff.c), in place of the one with counts and significance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "anyperf/error.h"
#include "cli/diff/views.h"

namespace anyperf::cli {

/// What is computed of a row's weights in the baseline and in another recording.
struct Computation {
    enum class Kind : std::uint8_t {
        delta,      ///< the difference of the shares
        delta_abs,  ///< the same, sorted by its size
        ratio,      ///< of the weights
        wdiff       ///< the difference of the weights, each times a factor
    } kind = Kind::delta_abs;
    std::int64_t baseline_factor = 1, factor = 1;  ///< of Kind::wdiff
};

/// Reads the value of -c: delta, delta-abs, ratio, or wdiff:W1,W2. Error: `text` is another word.
Result<Computation> computation_named(const std::string& text);

struct ComputedOptions {
    Computation computation{};
    std::size_t order = 1;       ///< the recording by whose value rows are sorted; 0: by the share in the baseline
    bool baseline_only = false;  ///< only rows that the baseline has
    bool periods = false;        ///< columns with the weights
    bool formula = false;        ///< a column with what is computed
    std::string separator{};     ///< between the columns, which then have no blanks; empty: aligned
};

std::string diff_as_computed(const ComparedEvent& compared, const DiffOptions& options,
                             const ComputedOptions& computed);

}  // namespace anyperf::cli
