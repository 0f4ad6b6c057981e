// statistics.h: what several runs of the same command tell.
#pragma once

#include <span>

namespace anyperf::cli::stat {

struct Summary {
    double mean = 0;
    double deviation = 0;  ///< standard deviation of the runs (n - 1)
    double median = 0;
    double median_low = 0;  ///< confidence interval of the median, from order statistics: no distribution is assumed
    double median_high = 0;
    double confidence = 0;  ///< of that interval: at least 0.95 from 6 runs on, what all runs together give below

    /// Standard deviation as a part of the mean; 0 where the mean is 0.
    double relative_deviation() const { return mean == 0 ? 0 : deviation / mean; }
};

/// `values` must not be empty.
Summary summarize(std::span<const double> values);

}  // namespace anyperf::cli::stat
