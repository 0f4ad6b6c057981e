// mapped_files.h: the files that were mapped for execution while recording, and their build ids, by which readers find
// the same files again. While recording, only their paths are kept. The files are opened at the end, when it no longer
// matters how long that takes. If a file was replaced before the end, the recording has the build id of the new file,
// and readers name the samples of the old one wrongly; perf has the same limit.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "perfdata/facts.h"

namespace anyperf::recording {

class MappedFiles {
  public:
    /// Notes the path in an MMAP or MMAP2 record, if the mapping is executable.
    void add(perfdata::Bytes record);
    void add(const MappedFiles& other);
    /// The build ids of those files that have one and that can still be read.
    std::vector<perfdata::BuildId> build_ids() const;

  private:
    std::set<std::string, std::less<>> paths_;
    std::string kernel_;  ///< the name of the kernel's mapping; empty: no record had one
};

}  // namespace anyperf::recording
