// descriptions.h: what events are, in their makers' words: read from the JSON event files that the vendors publish, or
// from the kernel's tools/perf/pmu-events, where a user has them. The program itself carries no descriptions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "anyperf/error.h"

namespace anyperf::cli {

class Descriptions {
  public:
    /// All *.json below `directory`. Files that are no event lists are passed over. Error: the directory can't be read,
    /// or has no event in it.
    static Result<Descriptions> read(const std::string& directory);

    /// Of an event and mask as the catalog names them ("INST_RETIRED", "ANY_P"); the event's own where `mask` is empty.
    /// Empty: there is none.
    std::string of(std::string_view event, std::string_view mask) const;

  private:
    std::map<std::string, std::string> by_name_;  // "INST_RETIRED.ANY_P", in capitals
};

}  // namespace anyperf::cli
