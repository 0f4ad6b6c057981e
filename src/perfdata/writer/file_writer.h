// file_writer.h: writes a perf.data file, or a stream in pipe mode, that perf from 4.1 on reads.
//
// The file is valid at any time: until finish() has written the size of the data, readers read to the end of the file.
// If the disk is full, write() fails and nothing more is written; finish() then cuts the file after a whole record, as
// far back as the feature sections need room. So what is left is a valid recording of the time before.
//
// The order in the file: the header, the ids, the attrs, the records, the table of the features and their bodies. The
// features come last because most are known only at the end (build ids, the last time, the ratio of compression). The
// header is written first with a data size of 0, which readers take for a recorder that was killed, and again at the
// end. In pipe mode nothing can be written twice: facts go out as records before the first sample, the build ids after
// the last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "perfdata/facts.h"
#include "perfdata/writer/record_output.h"

namespace anyperf::perfdata {

class FileWriter : public RecordOutput {
  public:
    /// Creates the file, or empties it. "-" is standard output, in pipe mode. Error: it cannot be created, or it is a
    /// kind of file without offsets. Without finish() readers find the recording of a recorder that was killed.
    static Result<FileWriter> create(const std::string& path);

    /// Writes what comes before the records. A file gets the events of `facts` here and the rest in finish(). A stream
    /// gets all of them here; of the facts that are known only at the end, finish() adds the build ids.
    Result<void> begin(const Facts& facts);
    /// Writes the facts and the size of the data. Error: as of write(); the recording is then valid without some or all
    /// of the facts.
    Result<void> finish(Facts facts);
    /// The recording has records in other files, too: so many bytes, and as many before compression.
    void count_elsewhere(std::uint64_t bytes, std::uint64_t plain_bytes);

  private:
    FileWriter(int fd, bool is_pipe, std::string name) : RecordOutput(fd, is_pipe, std::move(name)) {}
    void begin_file(const std::vector<EventInfo>& events);
    void begin_pipe(const Facts& facts);
    /// Writes the feature sections after the data and the final header. False: there is no room.
    bool write_end(const std::vector<FeatureSection>& table, Bytes bodies);
    bool write_header(std::uint64_t features);
    void complete_facts(Facts& facts) const;

    std::vector<EventInfo> events_;
    std::uint64_t bytes_elsewhere_ = 0, plain_bytes_elsewhere_ = 0;
};

}  // namespace anyperf::perfdata
