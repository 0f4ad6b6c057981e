// descriptions.h: what events are, in their makers' words: read from the JSON event files that the vendors publish, or
// from the kernel's tools/perf/pmu-events, where a user has them. The program itself carries no descriptions.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "cli/list/vendor_map.h"

namespace anyperf::cli {

/// One event of a file.
struct DescribedEvent {
    std::string name;  ///< "INST_RETIRED.ANY_P", in capitals; empty: none
    std::string code;  ///< "c0/1": event and unit mask; empty: none
    std::string unit;  ///< "cpu_core", "cpu_atom", an uncore box…; empty: the CPU
    std::string text;
};

/// What is known of the events of one PMU.
class PmuDescriptions {
  public:
    /// Of an event and mask as the catalog names them ("INST_RETIRED", "ANY_P") and with their codes; the event's own
    /// where `mask` is empty. Empty: there is none.
    std::string of(std::string_view event, std::string_view mask, std::uint64_t event_code,
                   std::uint64_t mask_code) const;

  private:
    friend class Descriptions;
    void add(const DescribedEvent& event, const events::CpuIds& cpu);
    std::map<std::string, std::string> by_name_, by_code_;
};

class Descriptions {
  public:
    /// All *.json below `directory`. Files that are no event lists are passed over. A mapfile.csv says whose a file is;
    /// one that no mapfile.csv speaks of is everyone's. Error: the directory can't be read, or has no event in it.
    static Result<Descriptions> read(const std::string& directory);

    /// Of the PMU of that name: its CPU's own files before those that are everyone's.
    PmuDescriptions of_pmu(std::string_view pmu) const;

  private:
    struct File {
        std::filesystem::path path;
        std::vector<DescribedEvent> events;
    };
    std::vector<File> files_;
    std::vector<VendorRow> map_;
};

}  // namespace anyperf::cli
