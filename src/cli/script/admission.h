// admission.h: which samples `anyperf script` prints, by the options of sample_filters.h.
#pragma once

#include <unordered_map>

#include "analysis/processes.h"
#include "cli/reading/sample_filters.h"
#include "perfdata/sample_layout.h"
#include "profile/strings.h"
#include "symbols/dso.h"

namespace anyperf::cli {

class Admission {
  public:
    /// The arguments must outlive it.
    Admission(const Filters& filters, analysis::Processes& processes, profile::Strings& strings, symbols::Dsos& dsos)
        : filters_(filters),
          admits_all_(filters.samples.admits_all()),
          processes_(processes),
          strings_(strings),
          dsos_(dsos) {
        find_addresses();
    }

    bool admits(const perfdata::Sample& sample) {
        return admits_place(sample.time, sample.cpu) && (admits_all_ || (admits_task(sample) && admits_code(sample)));
    }
    bool admits_cpu(std::uint32_t cpu) const {
        return filters_.cpus.empty() || (cpu < filters_.cpus.size() && filters_.cpus[cpu]);
    }

  private:
    bool admits_place(std::uint64_t time, std::uint32_t cpu) const {
        return filters_.time.has(time) && admits_cpu(cpu);
    }
    bool admits_task(const perfdata::Sample& sample);
    bool admits_code(const perfdata::Sample& sample);
    void find_addresses();
    bool is_at_address(std::uint64_t ip) const;
    bool is_named(const symbols::Dso& dso, const symbols::Symbol& symbol);

    const Filters& filters_;
    bool admits_all_;
    analysis::Processes& processes_;
    profile::Strings& strings_;
    symbols::Dsos& dsos_;
    std::unordered_map<const symbols::Symbol*, bool> named_;  // whether --symbols has it
    std::vector<std::uint64_t> addresses_;                    // that --symbols has
};

}  // namespace anyperf::cli
