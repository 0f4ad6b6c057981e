// record_output.h: records on their way to a file: collected, compressed if wanted, and written.
//
// The file ends after a whole record at any time, as far as that depends on this process. If the disk is full, write()
// fails, the file is cut after its last whole record, and what comes later is only counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "perfdata/writer/compressor.h"

namespace anyperf::perfdata {

/// Used by one thread.
class RecordOutput {
  public:
    /// Creates a file of records alone, as a directory of `perf record --threads` has them. Error: it cannot be
    /// created.
    static Result<RecordOutput> create(const std::string& path);
    RecordOutput(RecordOutput&& other) noexcept;
    RecordOutput& operator=(RecordOutput&&) = delete;
    /// Closes the file.
    ~RecordOutput();

    /// Compresses what write() gets from here on.
    void compress(int level) { compressor_ = std::make_unique<Compressor>(level); }

    /// Appends whole records, which lie in two pieces; a record may begin in one and end in the other. Error: they
    /// could not be written; the file is then at its end, and further calls do nothing.
    Result<void> write(Bytes first, Bytes second = {});
    /// Appends whole records that are not compressed, such as FINISHED_ROUND.
    Result<void> write_plain(Bytes records);
    /// Writes all that is buffered.
    Result<void> flush();
    /// Writes all that is buffered, and after a failure cuts the file. Error: as of write().
    Result<void> end();

    /// Bytes of records in the file, or on their way there.
    std::uint64_t data_bytes() const { return end_ - data_offset_ + buffer_.size(); }
    /// Bytes of records before compression.
    std::uint64_t plain_bytes() const { return plain_bytes_; }
    bool is_pipe() const { return is_pipe_; }
    /// Bytes of records that were given to write() and are not in the file.
    std::uint64_t dropped_bytes() const { return dropped_bytes_; }

  protected:
    RecordOutput(int fd, bool is_pipe, std::string name) : fd_(fd), is_pipe_(is_pipe), name_(std::move(name)) {}
    Result<void> fail(int errno_value);

    int fd_;
    bool is_pipe_;
    std::string name_;
    std::unique_ptr<Compressor> compressor_;
    std::vector<std::byte> buffer_;  ///< whole records; in the first write of a file with a header, that, too
    std::uint64_t data_offset_ = 0;
    std::uint64_t end_ = 0;           ///< of what is in the file; after a whole record
    std::deque<std::uint64_t> ends_;  ///< the last values of end_, where the file may be cut
    std::uint64_t plain_bytes_ = 0;
    std::uint64_t dropped_bytes_ = 0;
    std::optional<Error> failure_;  ///< the first one; from then on write() only counts what is dropped

  private:
    Result<void> append(Bytes first, Bytes second);
    Result<void> write_out(Bytes bytes);
    /// Moves the end of the file after the whole records among the first `written` bytes of a failed write.
    void keep_whole_records(Bytes bytes, std::size_t written);
    void move_end(std::uint64_t bytes);
};

}  // namespace anyperf::perfdata
