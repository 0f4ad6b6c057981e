// time_ranges.h: the spans of a recording whose samples are wanted, in the words of perf's option --time:
//
//   12.5,13         from 12.5 to 13 seconds of the recording's clock, as `script` prints it; either end may be missing
//   1,2 5,6         several, ascending and apart
//   10%-20%,40%-50% parts of the time between the first and the last sample
//   10%/2,10%/4     the second and the fourth tenth
//   10%             the first tenth
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::analysis {

class TimeRanges {
  public:
    /// Error: the text has none of these forms.
    static Result<TimeRanges> parse(const std::string& text);

    /// Whether there are percentages, which must be resolved before has() is asked.
    bool is_relative() const { return relative_; }
    /// Turns percentages into times. The recording says when its first and last samples were (Facts::first_ns).
    /// Error: it does not.
    Result<void> resolve(std::uint64_t first_ns, std::uint64_t last_ns);

    bool empty() const { return ranges_.empty(); }
    /// Whether a time is in a range; both ends are. True without ranges.
    bool has(std::uint64_t time_ns) const {
        for (const Range& each : ranges_)
            if (time_ns >= each.begin && time_ns <= each.end) return true;
        return ranges_.empty();
    }

  private:
    /// In ns; in millionths of a per cent until resolve().
    struct Range {
        std::uint64_t begin = 0, end = ~std::uint64_t{0};
    };
    Result<void> add_times(std::string_view word);
    Result<void> add_percentages(std::string_view word);

    bool relative_ = false;
    std::vector<Range> ranges_;
};

}  // namespace anyperf::analysis
