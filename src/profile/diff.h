// diff.h: what has changed between profiles, by rows with equal texts of their keys.
//
// A row's share is its part of the weight of all samples. The shares of two recordings differ also if the programs
// behave the same, because samples are taken at random. The test of a row asks whether that explains the difference. It
// is the two-sided z-test of two proportions (any textbook of statistics):
//
//   z = (s2 - s1) / sqrt(s (1 - s) (1 / n1 + 1 / n2))        s = (s1 n1 + s2 n2) / (n1 + n2)
//
// where n is the number of samples of the recording. Samples of unequal weight say less than their number, so n is
// Kish's effective sample size, (sum of weights)^2 / (sum of squared weights). A difference is significant if the
// probability of so large a |z| is below 5 % divided by the number of tested rows (Bonferroni), so that at most one
// comparison of twenty marks any row wrongly. A row is not tested if by the common share s fewer than five samples of
// either recording would be in the row, or fewer than five outside of it: the normal distribution does not hold then.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "profile/rows.h"

namespace anyperf::profile {

/// One recording's part of a row.
struct DiffCell {
    std::uint64_t samples = 0;
    std::uint64_t weight = 0;
    double share = 0.0;        ///< of the event's weight, 0 to 1
    double delta = 0.0;        ///< of the share, minus that of the first recording
    double z = 0.0;            ///< 0: not tested, or equal
    double probability = 1.0;  ///< of a difference as large as this one by chance; 1: not tested
    bool significant = false;
};

struct DiffRow {
    std::vector<std::string> keys;  ///< the texts, in the order of the keys
    std::vector<DiffCell> cells;    ///< of each recording
};

/// The sums of one recording.
struct DiffTotal {
    std::uint64_t samples = 0;
    std::uint64_t weight = 0;
    double effective_samples = 0.0;
};

struct Diff {
    std::vector<DiffRow> rows;  ///< the largest change of the share first; of several recordings the last one's
    std::vector<DiffTotal> totals;
};

/// One recording of a comparison: an event of a profile.
struct DiffInput {
    const Profile* profile = nullptr;
    EventId event{};
    /// Which samples are in rows, by their indices; null: all. Shares are of all samples.
    const std::vector<bool>* admitted = nullptr;
};

/// Compares each recording with the first. There are at least two.
Diff compare(const std::vector<DiffInput>& inputs, const std::vector<Key>& keys);

}  // namespace anyperf::profile
