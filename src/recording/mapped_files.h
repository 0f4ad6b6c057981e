// mapped_files.h: the files that were mapped for execution while recording, and their build ids, by which readers find
// the same files again. Only names are kept while records pass; the files are opened at the end of the recording, when
// it no longer matters how long that takes. A file that was replaced before then gives the new one's id, and readers
// name its samples wrongly; perf has the same limit.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "perfdata/facts.h"

namespace anyperf::recording {

class MappedFiles {
  public:
    /// Takes notes of an MMAP or MMAP2 record.
    void add(perfdata::Bytes record);
    /// The build ids of those files that have one and that can still be read.
    std::vector<perfdata::BuildId> build_ids() const;

  private:
    std::set<std::string, std::less<>> paths_;
    std::string kernel_;  ///< the name of the kernel's mapping; empty: there is none
};

}  // namespace anyperf::recording
