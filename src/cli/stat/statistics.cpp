// statistics.cpp: the confidence interval of the median by order statistics. Each of n values is below the median with
// probability 1/2, whatever their distribution, so the number of values below it is binomial. The interval from the
// k-th smallest to the k-th largest value misses the median with probability 2 P(B(n, 1/2) < k). The largest k with at
// least the wanted confidence gives the narrowest interval.
#include "cli/stat/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace anyperf::cli::stat {

namespace {

constexpr std::size_t kExactUpTo = 500;  // runs; 2^-n would underflow a double from n = 1075 on

/// P(B(n, 1/2) < below): the probability that fewer than `below` of n fair coins show heads. It is also the probability
/// that the median is below the value of rank `below`.
double binomial_tail(std::size_t n, std::size_t below) {
    double sum = 0;
    double term = std::exp2(-static_cast<double>(n));
    for (std::size_t heads = 0; heads < below; ++heads) {
        sum += term;
        term *= static_cast<double>(n - heads) / static_cast<double>(heads + 1);
    }
    return sum;
}

/// The largest rank k whose interval has at least the confidence `wanted`. If no interval has, 1: the widest one.
std::size_t median_rank(std::size_t n, double wanted) {
    constexpr double kDeviations =
        1.96;  // 95% of a normal distribution are within them; it approximates the binomial one for large n
    if (n > kExactUpTo) return static_cast<std::size_t>((static_cast<double>(n) - kDeviations * std::sqrt(n)) / 2);
    std::size_t rank = 1;
    while (2 * (rank + 1) <= n && 1 - 2 * binomial_tail(n, rank + 1) >= wanted) ++rank;
    return rank;
}

void fill_median(Summary& summary, std::vector<double> sorted) {
    std::ranges::sort(sorted);
    const std::size_t n = sorted.size();
    summary.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    constexpr double kWanted = 0.95;
    const std::size_t rank = median_rank(n, kWanted);
    summary.median_low = sorted[rank - 1];  // ranks count from 1
    summary.median_high = sorted[n - rank];
    summary.confidence = n == 1 ? 0 : n > kExactUpTo ? kWanted : 1 - 2 * binomial_tail(n, rank);
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
