// statistics.cpp: see statistics.h.
#include "cli/stat/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace anyperf::cli::stat {

namespace {

constexpr std::size_t kExactUpTo = 500;  // runs; 2^-n leaves the range of double at 1074

/// P(fewer than `below` of n fair coins show heads): the chance that the median lies under the below-th smallest value.
double tail(std::size_t n, std::size_t below) {
    double sum = 0;
    double term = std::exp2(-static_cast<double>(n));
    for (std::size_t heads = 0; heads < below; ++heads) {
        sum += term;
        term *= static_cast<double>(n - heads) / static_cast<double>(heads + 1);
    }
    return sum;
}

/// The highest rank from both ends that still encloses the median with `wanted` confidence; 1 where none does.
std::size_t median_rank(std::size_t n, double wanted) {
    constexpr double kDeviations = 1.96;  // 95% of a normal distribution, which the binomial one is by then
    if (n > kExactUpTo) return static_cast<std::size_t>((static_cast<double>(n) - kDeviations * std::sqrt(n)) / 2);
    std::size_t rank = 1;  // from the smallest to the largest is the widest there is
    while (2 * (rank + 1) <= n && 1 - 2 * tail(n, rank + 1) >= wanted) ++rank;
    return rank;
}

void fill_median(Summary& summary, std::vector<double> sorted) {
    std::ranges::sort(sorted);
    const std::size_t n = sorted.size();
    summary.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    constexpr double kWanted = 0.95;
    const std::size_t rank = median_rank(n, kWanted);
    summary.median_low = sorted[rank - 1];
    summary.median_high = sorted[n - rank];
    summary.confidence = n == 1 ? 0 : n > kExactUpTo ? kWanted : 1 - 2 * tail(n, rank);
}

}  // namespace

Summary summarize(std::span<const double> values) {
    Summary summary;
    const auto n = static_cast<double>(values.size());
    summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
    summary.deviation = values.size() < 2 ? 0 : std::sqrt(squares / (n - 1));
    fill_median(summary, {values.begin(), values.end()});
    return summary;
}

}  // namespace anyperf::cli::stat
