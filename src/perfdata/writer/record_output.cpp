// record_output.cpp: a file is written front to back with pwrite(2) at `end_`. Records are collected in `buffer_` up to
// kBuffer bytes, so that many small writes become one. `end_` moves only when whole records are in the file.
#include "perfdata/writer/record_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "perfdata/types.h"
#include "try.h"

namespace anyperf::perfdata {

namespace {

constexpr std::size_t kBuffer = 1 << 20;
constexpr std::size_t kEnds = 256;  // with a buffer between two of them: more than any feature sections need
constexpr std::size_t kLeastBetweenEnds = 4096;

}  // namespace

Result<RecordOutput> RecordOutput::create(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0) return RecordOutput{fd, false, path};
    return std::unexpected(Error{"cannot write " + path, std::generic_category().message(errno), ""});
}

// Only the descriptor of the moved-from object is defined: it has none, so its destructor closes nothing.
RecordOutput::RecordOutput(RecordOutput&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      is_pipe_(other.is_pipe_),
      name_(std::move(other.name_)),
      compressor_(std::move(other.compressor_)),
      buffer_(std::move(other.buffer_)),
      data_offset_(other.data_offset_),
      end_(other.end_),
      ends_(std::move(other.ends_)),
      plain_bytes_(other.plain_bytes_),
      dropped_bytes_(other.dropped_bytes_),
      failure_(std::move(other.failure_)) {}

RecordOutput::~RecordOutput() {
    if (fd_ >= 0) ::close(fd_);
}

// The two pieces are the two ends of a ring that wraps around. Compressed, they are one stream of bytes, in which the
// border between them does not matter.
Result<void> RecordOutput::write(Bytes first, Bytes second) {
    plain_bytes_ += first.size() + second.size();
    if (!compressor_) return append(first, second);
    std::vector<std::byte> packed;
    compressor_->compress(first, packed);
    compressor_->compress(second, packed);
    return append(packed, {});
}

Result<void> RecordOutput::write_plain(Bytes records) {
    plain_bytes_ += records.size();
    return append(records, {});
}

Result<void> RecordOutput::append(Bytes first, Bytes second) {
    const std::size_t size = first.size() + second.size();
    if (failure_) {
        dropped_bytes_ += size;
        return std::unexpected(*failure_);
    }
    // Flushing before the append, not after it, keeps whole records in the buffer: keep_whole_records() relies on this.
    if (buffer_.size() + size > kBuffer) {
        if (auto flushed = flush(); !flushed) {
            dropped_bytes_ += size;
            return flushed;
        }
    }
    buffer_.insert(buffer_.end(), first.begin(), first.end());
    buffer_.insert(buffer_.end(), second.begin(), second.end());
    return {};
}

Result<void> RecordOutput::flush() {
    if (failure_) return std::unexpected(*failure_);
    auto written = write_out(buffer_);
    buffer_.clear();  // its memory is used again: new memory costs page faults
    return written;
}

// Writes all bytes, in several calls if the kernel takes only a part. A call that writes nothing counts as a full disk.
// If the very first write of a file with a header fails, the header is not in it and there is nothing to save.
Result<void> RecordOutput::write_out(Bytes bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const auto left = bytes.subspan(done);
        const ssize_t got = is_pipe_ ? ::write(fd_, left.data(), left.size())
                                     : ::pwrite(fd_, left.data(), left.size(), static_cast<off_t>(end_ + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            const int error = got < 0 ? errno : ENOSPC;
            if (end_ >= data_offset_ && !is_pipe_) keep_whole_records(bytes, done);
            return fail(error);
        }
        done += static_cast<std::size_t>(got);
    }
    move_end(done);
    return {};
}

// Remembers where the file may be cut: finish() on a full disk goes back through these ends.
void RecordOutput::move_end(std::uint64_t bytes) {
    end_ += bytes;
    ends_.push_back(end_);
    if (ends_.size() > kEnds) ends_.pop_front();
}

// `bytes` begin with a record, so the sizes in their headers lead from one to the next. Ends are noted every
// kLeastBetweenEnds bytes only: one for each record would push the useful ones out of the list.
void RecordOutput::keep_whole_records(Bytes bytes, std::size_t written) {
    std::size_t kept = 0;
    std::size_t moved = 0;  // of `kept`: the end is there already
    for (;;) {
        if (bytes.size() - kept < kRecordHeader) break;
        const std::size_t size = load<RecordHeader>(bytes.data() + kept).size;
        if (size < kRecordHeader || size > written - kept) break;
        kept += size;
        if (kept - moved < kLeastBetweenEnds) continue;
        move_end(kept - std::exchange(moved, kept));
    }
    move_end(kept - moved);
    dropped_bytes_ += bytes.size() - kept;
}

Result<void> RecordOutput::fail(int errno_value) {
    const bool full = errno_value == ENOSPC || errno_value == EDQUOT;
    failure_ = Error{"cannot write " + name_, full ? "the disk is full" : std::generic_category().message(errno_value),
                     full ? "free space, or record less: a lower -F, -z, or --max-size" : ""};
    return std::unexpected(*failure_);
}

Result<void> RecordOutput::end() {
    auto flushed = flush();
    // What a failed write has left after the last whole record.
    if (!flushed) [[maybe_unused]]
        const int cut = ::ftruncate(fd_, static_cast<off_t>(end_));
    return flushed;
}

}  // namespace anyperf::perfdata
