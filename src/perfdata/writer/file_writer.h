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

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "perfdata/facts.h"
#include "perfdata/writer/compressor.h"

namespace anyperf::perfdata {

class FileWriter {
  public:
    /// Creates the file, or empties it. "-" is standard output, in pipe mode. Error: it cannot be created, or it is a
    /// kind of file without offsets.
    static Result<FileWriter> create(const std::string& path);
    FileWriter(FileWriter&& other) noexcept;
    FileWriter& operator=(FileWriter&&) = delete;
    /// Closes the file. Without finish() readers find the recording of a recorder that was killed.
    ~FileWriter();

    /// Compresses what write() gets from here on.
    void compress(int level) { compressor_ = std::make_unique<Compressor>(level); }

    /// Writes what comes before the records. A file gets the events of `facts` here and the rest in finish(). A stream
    /// gets all of them here; of the facts that are known only at the end, finish() adds the build ids.
    Result<void> begin(const Facts& facts);
    /// Appends whole records, which lie in two pieces; a record may begin in one and end in the other. Error: they
    /// could not be written; the file is then at its end, and further calls do nothing.
    Result<void> write(Bytes first, Bytes second = {});
    /// Appends whole records that are not compressed, such as FINISHED_ROUND.
    Result<void> write_plain(Bytes records);
    /// Writes all that is buffered.
    Result<void> flush();
    /// Writes the facts and the size of the data. Error: as of write(); the recording is then valid without some or all
    /// of the facts.
    Result<void> finish(Facts facts);

    /// Bytes of records in the file, or on their way there.
    std::uint64_t data_bytes() const { return end_ - data_offset_ + buffer_.size(); }
    /// Bytes of records before compression.
    std::uint64_t plain_bytes() const { return plain_bytes_; }
    bool is_pipe() const { return is_pipe_; }
    /// Bytes of records that were given to write() and are not in the file.
    std::uint64_t dropped_bytes() const { return dropped_bytes_; }

  private:
    FileWriter(int fd, bool is_pipe, std::string name) : fd_(fd), is_pipe_(is_pipe), name_(std::move(name)) {}
    void begin_file(const std::vector<EventInfo>& events);
    void begin_pipe(const Facts& facts);
    Result<void> append(Bytes first, Bytes second);
    Result<void> write_out(Bytes bytes);
    Result<void> fail(int errno_value);
    /// Moves the end of the file after the whole records among the first `written` bytes of a failed write.
    void keep_whole_records(Bytes bytes, std::size_t written);
    void move_end(std::uint64_t bytes);
    /// Writes the feature sections after the data and the final header. False: there is no room.
    bool write_end(const std::vector<FeatureSection>& table, Bytes bodies);
    bool write_header(std::uint64_t features);
    void complete_facts(Facts& facts) const;

    int fd_;
    bool is_pipe_;
    std::string name_;
    std::vector<EventInfo> events_;
    std::unique_ptr<Compressor> compressor_;
    std::vector<std::byte> buffer_;  ///< whole records
    std::uint64_t data_offset_ = 0;
    std::uint64_t end_ = 0;           ///< of what is in the file; after a whole record
    std::deque<std::uint64_t> ends_;  ///< the last values of end_, where the file may be cut
    std::uint64_t plain_bytes_ = 0;
    std::uint64_t dropped_bytes_ = 0;
    std::optional<Error> failure_;  ///< the first one; from then on write() only counts what is dropped
};

}  // namespace anyperf::perfdata
