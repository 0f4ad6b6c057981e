// statistics.h: the statistics of several runs of one command (-r). Counts of repeated runs rarely have a normal
// distribution. So besides mean and deviation there is the median, with a confidence interval that assumes no
// distribution.
#pragma once

#include <span>

namespace anyperf::cli::stat {

struct Summary {
    double mean = 0;
    double deviation = 0;  ///< standard deviation of the runs (divided by n - 1); 0 for one run
    double median = 0;
    double median_low = 0;  ///< confidence interval of the median, from order statistics
    double median_high = 0;
    double confidence = 0;  ///< of that interval: 0.95 or more from 6 runs on; with fewer, that of [min, max]

    /// The standard deviation as a part of the mean; 0 if the mean is 0.
    double relative_deviation() const { return mean == 0 ? 0 : deviation / mean; }
};

/// `values` must not be empty. Their order does not matter.
Summary summarize(std::span<const double> values);

}  // namespace anyperf::cli::stat
