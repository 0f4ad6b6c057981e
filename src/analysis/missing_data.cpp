#include "analysis/missing_data.h"

#include <algorithm>

#include "abi/sample_bits.h"
#include "try.h"

namespace anyperf::analysis {

bool some_event_has(const perfdata::Reader& reader, std::uint64_t sample_bits) {
    const auto& events = reader.events();
    return events.empty() || std::ranges::any_of(events, [&](const perfdata::EventInfo& event) {
               return (event.attr.sample_type & sample_bits) != 0;
           });
}

Result<void> check_cpus(const perfdata::Reader& reader, const std::vector<bool>& chosen) {
    if (chosen.empty() || some_event_has(reader, abi::sample("PERF_SAMPLE_CPU"))) return {};
    return std::unexpected(Error{"cannot choose samples by their CPU", "the recording does not have the CPU of samples",
                                 "leave -C out; or record with -a or --sample-cpu"});
}

Result<void> check_data(const perfdata::Reader& reader, const ReadOptions& options) {
    TRY(check_cpus(reader, options.cpus));
    if (options.branches && !some_event_has(reader, abi::sample("PERF_SAMPLE_BRANCH_STACK")))
        return std::unexpected(
            Error{"cannot show branches", "the recording has none", "leave -b out; or record with -b"});
    constexpr std::uint64_t kWeights = abi::sample("PERF_SAMPLE_WEIGHT") | abi::sample("PERF_SAMPLE_WEIGHT_STRUCT") |
                                       abi::sample("PERF_SAMPLE_DATA_SRC");
    if (options.by_weight && !some_event_has(reader, kWeights))
        return std::unexpected(Error{"cannot weigh samples by their latency", "the recording has no latencies",
                                     "leave --mem-mode out; or record with -d -W"});
    return {};
}

}  // namespace anyperf::analysis
