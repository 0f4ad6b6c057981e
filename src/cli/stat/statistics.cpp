// statistics.cpp: see statistics.h.
#include "cli/stat/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace anyperf::cli::stat {

namespace {

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

void fill_median(Summary& summary, std::vector<double> sorted) {
    std::ranges::sort(sorted);
    const std::size_t n = sorted.size();
    summary.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    constexpr double kWanted = 0.95;
    std::size_t rank = 1;  // from the smallest to the largest is the widest there is
    while (2 * (rank + 1) <= n && 1 - 2 * tail(n, rank + 1) >= kWanted) ++rank;
    summary.median_low = sorted[rank - 1];
    summary.median_high = sorted[n - rank];
    summary.confidence = n == 1 ? 0 : 1 - 2 * tail(n, rank);
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
