// descriptions.h: descriptions of events in the vendors' words, read from JSON event files on the user's disk: those
// that the vendors publish, or the kernel's tools/perf/pmu-events/arch. anyperf itself ships names and codes, but no
// descriptions.
//
// Files and the catalog are joined by name; where the vendor's files name events differently (AMD), by event code and
// unit mask. Which file belongs to which CPU comes from mapfile.csv (vendor_map.h).
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
    std::string name;  ///< "INST_RETIRED.ANY_P", in capitals
    std::string code;  ///< "c0/1": event and unit mask, in hexadecimal; empty: the file has none
    std::string unit;  ///< "cpu_core", "cpu_atom", an uncore box …; empty: the CPU
    std::string text;  ///< the description
};

/// The descriptions of one PMU's events.
class PmuDescriptions {
  public:
    /// The description of an event and mask, given the catalog's names ("INST_RETIRED", "ANY_P") and codes. An empty
    /// `mask` asks for the event itself. Empty if there is none.
    std::string find(std::string_view event, std::string_view mask, std::uint64_t event_code,
                     std::uint64_t mask_code) const;

  private:
    friend class Descriptions;
    /// The first description of a name or code wins, so files of the CPU must come before common ones.
    void add(const DescribedEvent& event, const events::CpuIds& cpu);
    std::map<std::string, std::string> by_name_, by_code_;
};

/// All event files below a directory.
class Descriptions {
  public:
    /// Reads all *.json below `directory`; files that are not lists of events, or are larger than 64 MiB, are skipped.
    /// For ARM, files of the two directories above are read as well if needed: the kernel's files of a CPU refer to a
    /// common list there. Error: the directory cannot be read, or no file in it describes an event.
    static Result<Descriptions> read(const std::string& directory);

    /// The descriptions for the catalog's PMU of that name: from files that a mapfile.csv assigns to its CPU, then from
    /// files that no mapfile.csv mentions, which are taken to be common to all CPUs.
    PmuDescriptions for_pmu(std::string_view pmu) const;

  private:
    struct File {
        std::filesystem::path path;
        std::vector<DescribedEvent> events;
    };
    std::vector<File> files_;
    std::vector<VendorMapRow> map_;
};

}  // namespace anyperf::cli
