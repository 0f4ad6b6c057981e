// file_writer.cpp: the order of the writes, and what remains if one of them fails. The layout is that of
// tools/perf/Documentation/perf.data-file-format.txt.
//
// Records are written front to back (record_output.h), and only two things are written twice: the header, and after a
// failure the end of the data.
//
// When the disk is full three steps save the recording:
// - RecordOutput keeps the whole records of the failed write and remembers the error, so later calls drop their
//   records.
// - finish() tries to append the feature sections. If they do not fit, it goes back to an earlier end of the data and
//   tries again there, so the last samples make room for the facts.
// - If no end is far enough back, the header is written without features: the records remain readable, and only the
//   facts are missing.
#include "perfdata/writer/file_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "perfdata/writer/byte_writer.h"
#include "perfdata/writer/feature_bodies.h"
#include "try.h"

namespace anyperf::perfdata {

namespace {

constexpr std::uint64_t kMagic = 0x32454c4946524550;  // "PERFILE2"
constexpr std::size_t kSectionBytes = sizeof(FileSection);
constexpr std::uint64_t kLastFeature = 32;  // HEADER_LAST_FEATURE of perf 6.1: in a stream it ends the features

/// An {offset, size} pair: struct perf_file_section of perf.
FileSection section(std::uint64_t offset, std::uint64_t size) {
    return {offset, size};
}

/// HEADER_ATTR of pipe mode: the attr and then all ids to the end of the record. A reader finds the ids by attr.size.
std::vector<std::byte> attr_record(const EventInfo& event, std::uint32_t attr_size) {
    RecordWriter record{RecordType::header_attr, 0};
    put_attr(record, event.attr, attr_size);
    for (const std::uint64_t id : event.ids) record.u64(id);
    return record.finish();
}

/// EVENT_UPDATE with the name, which pipe mode has nowhere else.
std::vector<std::byte> name_record(const EventInfo& event) {
    constexpr std::uint64_t kName = 2;
    RecordWriter record{RecordType::event_update, 0};
    record.u64(kName).u64(event.ids.empty() ? 0 : event.ids.front()).padded_text(event.name, 8);
    return record.finish();
}

/// HEADER_FEATURE of pipe mode: the number of the feature, then the same body as a section of a file has.
std::vector<std::byte> feature_record(std::uint64_t feature, Bytes body) {
    RecordWriter record{RecordType::header_feature, 0};
    record.u64(feature).bytes(body);
    return record.finish();
}

/// HEADER_TRACING_DATA: the payload follows the record and is not counted in its size.
void put_tracing_data(ByteWriter& to, const std::vector<std::byte>& data) {
    RecordWriter record{RecordType::header_tracing_data, 0};
    record.u32(static_cast<std::uint32_t>(data.size()));
    to.bytes(record.finish()).bytes(data).align(8);
}

}  // namespace

Result<FileWriter> FileWriter::create(const std::string& path) {
    // The descriptor of a pipe is a copy of standard output, so that the destructor closes either kind. The file is
    // readable by its owner only: a recording may contain stack contents and paths of other users' processes.
    const bool is_pipe = path == "-";
    const int fd = is_pipe ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                           : ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const std::string name = is_pipe ? "standard output" : path;
    if (fd < 0)
        return std::unexpected(Error{"cannot write " + name, std::generic_category().message(errno),
                                     "name a file in a directory that you may write with -o"});
    if (!is_pipe && ::lseek(fd, 0, SEEK_SET) < 0) {
        ::close(fd);
        return std::unexpected(Error{"cannot write " + name, "it is not a regular file: the header is written last",
                                     "use -o - for a pipe"});
    }
    return FileWriter{fd, is_pipe, name};
}

Result<void> FileWriter::begin(const Facts& facts) {
    events_ = facts.events;
    is_pipe_ ? begin_pipe(facts) : begin_file(facts.events);
    return flush();
}

/// The header, the ids of each event, and the attrs that refer to them. The final header is written over this one.
void FileWriter::begin_file(const std::vector<EventInfo>& events) {
    ByteWriter ids;
    ByteWriter attrs;
    for (const auto& event : events) {
        put_attr(attrs, event.attr, attr_bytes(events));
        attrs.put(section(kFileHeaderSize + ids.size(), event.ids.size() * sizeof(std::uint64_t)));
        for (const std::uint64_t id : event.ids) ids.u64(id);
    }
    buffer_.assign(kFileHeaderSize, std::byte{0});
    buffer_.insert(buffer_.end(), ids.view().begin(), ids.view().end());
    buffer_.insert(buffer_.end(), attrs.view().begin(), attrs.view().end());
    data_offset_ = buffer_.size();
    end_ = 0;
    write_header(0);
}

// Order matters in a stream, since a reader acts on each record as it comes: attrs before features (EVENT_DESC names
// the events that the attrs define), everything before the first sample. A feature must fit into one record, whose size
// field has 16 bits; a longer one is left out. TRACING_DATA has a record type of its own, whose payload may be of any
// size.
void FileWriter::begin_pipe(const Facts& facts) {
    ByteWriter head;
    head.u64(kMagic).u64(kPipeHeaderSize);
    for (const auto& event : events_) head.bytes(attr_record(event, attr_bytes(events_)));
    Facts early = facts;
    early.build_ids.clear();
    complete_facts(early);
    for (const auto& body : feature_bodies(early))
        if (body.feature != Feature::tracing_data && body.bytes.size() < kLongestRecord - 2 * kRecordHeader)
            head.bytes(feature_record(static_cast<std::uint64_t>(body.feature), body.bytes));
    head.bytes(feature_record(kLastFeature, {}));
    if (!facts.tracing_data.empty()) put_tracing_data(head, facts.tracing_data);
    for (const auto& event : events_) head.bytes(name_record(event));
    buffer_ = head.take();
}

/// What only the writer knows.
void FileWriter::complete_facts(Facts& facts) const {
    facts.events = events_;
    if (!compressor_) return;
    facts.compression_level = std::max(facts.compression_level, 1U);
    facts.compression_limit = Compressor::kPiece;
    const std::uint64_t packed = std::max<std::uint64_t>(data_bytes() + bytes_elsewhere_, 1);
    facts.compression_ratio = static_cast<std::uint32_t>((plain_bytes_ + plain_bytes_elsewhere_) / packed);
}

void FileWriter::count_elsewhere(std::uint64_t bytes, std::uint64_t plain_bytes) {
    bytes_elsewhere_ = bytes;
    plain_bytes_elsewhere_ = plain_bytes;
}

Result<void> FileWriter::finish(Facts facts) {
    if (is_pipe_) {
        for (const auto& id : facts.build_ids)
            TRY(write_plain(build_id_entry(id, static_cast<std::uint32_t>(RecordType::header_build_id))));
        return flush();
    }
    // The offsets in the table are relative to the first body here; write_end() adds the place at which the bodies
    // begin. That place changes with each attempt.
    const auto flushed = failure_ ? Result<void>{std::unexpected(*failure_)} : flush();
    complete_facts(facts);
    ByteWriter bodies;
    std::vector<FeatureSection> table;
    for (const auto& body : feature_bodies(facts)) {
        table.push_back({body.feature, {bodies.size(), body.bytes.size()}});
        bodies.bytes(body.bytes);
    }
    while (!write_end(table, bodies.view())) {
        // There is no room after the data: the last records give way.
        const auto before = std::ranges::find_if(ends_.rbegin(), ends_.rend(),
                                                 [&](std::uint64_t at) { return at < end_ && at >= data_offset_; });
        if (before == ends_.rend()) {
            write_header(0);
            break;
        }
        dropped_bytes_ += end_ - *before;
        end_ = *before;
        // The disk was full only now, at the end: the caller must learn that records were dropped.
        if (!failure_) [[maybe_unused]]
            const auto reported = fail(ENOSPC);
    }
    return failure_ ? Result<void>{std::unexpected(*failure_)} : flushed;
}

bool FileWriter::write_end(const std::vector<FeatureSection>& table, Bytes bodies) {
    // What a failed write has left after the last whole record. Fails where there is nothing to cut (/dev/null).
    [[maybe_unused]] const int cut = ::ftruncate(fd_, static_cast<off_t>(end_));
    // The table comes directly after the data, which is where readers look for it (data.offset + data.size). It has one
    // row for each bit of the bitmap, in ascending order, so the bit is what names a row.
    const std::uint64_t first = end_ + table.size() * kSectionBytes;
    ByteWriter sections;
    std::uint64_t features = 0;
    for (const auto& row : table) {
        sections.put(section(first + row.place.offset, row.place.size));
        features |= std::uint64_t{1} << static_cast<unsigned>(row.feature);
    }
    sections.bytes(bodies);
    const Bytes all = sections.view();
    for (std::size_t done = 0; done < all.size();) {
        const ssize_t got = ::pwrite(fd_, all.data() + done, all.size() - done, static_cast<off_t>(end_ + done));
        if (got <= 0) return false;
        done += static_cast<std::size_t>(got);
    }
    return write_header(features);
}

/// The header. The attrs are right before the data.
bool FileWriter::write_header(std::uint64_t features) {
    const std::uint64_t entry_bytes = attr_bytes(events_) + kSectionBytes;
    const std::uint64_t attrs = events_.size() * entry_bytes;
    ByteWriter header;
    header.u64(kMagic).u64(kFileHeaderSize).u64(entry_bytes);
    header.put(section(data_offset_ - attrs, attrs));
    header.put(section(data_offset_, end_ > data_offset_ ? end_ - data_offset_ : 0));
    header.put(section(0, 0)).u64(features).zeros(3 * sizeof(std::uint64_t));
    if (end_ == 0) {  // nothing is in the file yet
        std::ranges::copy(header.view(), buffer_.begin());
        return true;
    }
    return ::pwrite(fd_, header.view().data(), header.size(), 0) == static_cast<ssize_t>(header.size());
}

}  // namespace anyperf::perfdata
