// reader.h: reads a perf.data file from its first to its last record and passes the records on in the order of time.
// Files, pipe mode, compressed files and the other byte order look the same to the consumer. Memory is bounded by two
// rounds of the recorder, not by the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "anyperf/error.h"
#include "perfdata/facts.h"
#include "perfdata/file_header.h"
#include "perfdata/sample_layout.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

/// A kernel record that is not a sample, in this machine's byte order.
struct Record {
    RecordType type;
    std::uint16_t misc = 0;
    Bytes bytes;  ///< with header, without the sample id
    std::uint64_t time = 0;
    std::size_t event = 0;  ///< index of the event that it belongs to
};

/// What is done with the records. Views are valid during the call.
class Consumer {
  public:
    virtual ~Consumer() = default;

    /// `event` is an index of Reader::events().
    virtual void sample(const Sample& sample, std::size_t event) = 0;
    virtual void record(const Record& record) = 0;
    /// A record of perf's own (types from 64), with header, in the file's byte order and at its place in the file. The
    /// reader itself has already used those that describe events and features.
    virtual void user_record(RecordType, Bytes, bool /*foreign*/) {}
};

/// How the reading went.
struct Summary {
    std::uint64_t records = 0, samples = 0;
    std::uint64_t lost = 0;             ///< records that the kernel dropped, as LOST records say
    std::uint64_t lost_samples = 0;     ///< as LOST_SAMPLES says: of the same losses
    std::uint64_t late = 0;             ///< came later in the file than FINISHED_ROUND promised
    std::uint64_t unknown_types = 0;    ///< records of a type that no perf has had
    std::uint64_t unknown_ids = 0;      ///< samples of an event that the file does not declare
    std::uint64_t damaged_samples = 0;  ///< their fields pass their end
    std::optional<Error> damage;        ///< what ended the reading too early, with its offset
};

class Reader {
  public:
    /// Opens a file, or standard input if `path` is "-", and reads its header. Fails if it can't be read or is not
    /// perf.data.
    static Result<Reader> open(const std::string& path);

    Reader(Reader&&) noexcept;
    Reader& operator=(Reader&&) noexcept;
    ~Reader();

    /// The events, with names. In pipe mode they become known while reading, before their first sample.
    const std::vector<EventInfo>& events() const;
    const Facts& facts() const;
    bool is_pipe() const;

    /// Reads all records. Damage ends it early; the summary says where. To be called once.
    Summary read(Consumer& consumer);

  private:
    struct State;
    explicit Reader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace anyperf::perfdata
