// mapped_files.h: the files that were mapped for execution while recording, and their build ids, by which readers find
// the same files again. From Linux 5.12 on the kernel writes them into the records. Where it has not, only the path is
// kept while recording, and the file is opened at the end, when it no longer matters how long that takes: in the root
// directory of a process that has mapped it, which may be a container's, or here if that process has ended. If such a
// file was replaced before the end, the recording has the build id of the new file, and readers name the samples of the
// old one wrongly; perf has the same limit.
#pragma once

#include <cstdint>
#include <map>
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
    struct File {
        std::string build_id;   ///< the last of a record; empty: no record had one
        std::uint32_t pid = 0;  ///< a process that has mapped it
    };

    std::map<std::string, File, std::less<>> files_;  ///< by path
    std::string kernel_;                              ///< the name of the kernel's mapping; empty: no record had one
};

}  // namespace anyperf::recording
