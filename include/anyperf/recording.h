// recording.h: reads a recording: its facts, its events, and its samples with the names of functions, files and source
// lines. It reads what perf 3.x and later, simpleperf and `anyperf record` write, of either byte order, also compressed
// and in pipe mode. docs/compatibility.md has what it leaves out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "anyperf/error.h"

namespace anyperf::reading {

/// One function on a stack. The texts are valid as long as the Recording.
struct Frame {
    std::string_view function;     ///< demangled, without parameters; empty: no symbol is known
    std::string_view dso;          ///< the file's name without its directory, or "[kernel.kallsyms]", "[unknown]"
    std::string_view path;         ///< the file as it was recorded
    std::string_view source_file;  ///< empty: unknown, or not asked for
    std::uint32_t line = 0;        ///< 0: unknown, or not asked for
    std::uint64_t address = 0;     ///< in the file's symbol table; of an unknown file that of the process
    bool inlined = false;          ///< into the next frame
    bool kernel = false;
};

/// A sample; unless ReadOptions::each_sample, all samples with the same task, event and stack. A task's part that was
/// not asked for is empty.
struct Sample {
    std::size_t event = 0;  ///< index in Recording::events()
    std::string_view comm;  ///< the thread's name at that time
    std::optional<std::uint32_t> pid, tid, cpu;
    std::optional<std::uint64_t> time_ns;  ///< of each sample, on the recording's clock
    std::uint64_t count = 0;               ///< number of samples: 1 for each sample
    std::uint64_t weight = 0;              ///< sum of their periods: how often the event happened
    std::span<const Frame> stack;          ///< from the innermost frame outwards; valid during the call that gets it
};

/// An event of the recording.
struct EventFacts {
    std::string_view name;        ///< as recorded: "cycles:u"
    std::uint64_t period = 0;     ///< events between two samples, if that was fixed
    std::uint64_t frequency = 0;  ///< samples a second, if the period was adapted to that
};

/// How a recording was made. Unknown facts are empty or 0.
struct Facts {
    std::string_view host, kernel, writer_version, architecture, cpu, command_line;
    std::uint32_t cpus_online = 0;
    std::uint64_t first_ns = 0, last_ns = 0;  ///< time of the first and the last sample, on the recording's clock
    std::uint64_t lost_records = 0;           ///< that the recorder could not keep
    std::uint64_t skipped_records = 0;        ///< that could not be read
};

struct ReadOptions {
    bool call_chains = true;   ///< false: a stack is the sample's own address
    bool each_sample = false;  ///< each sample by itself, in the order of time, in some 24 bytes of memory
    bool tasks = true;         ///< keep pid and tid
    bool cpus = false;         ///< keep the CPU
    bool source_lines = false;
    bool inlined_functions = true;
    std::string symbol_root{};     ///< look for the recorded files below this directory; empty: on this machine
    std::string build_id_cache{};  ///< perf's directory of copies of recorded files (~/.debug); empty: none
};

/// What was read. Move-only. Several threads may use it at once.
class Recording {
  public:
    /// Reads the file; "-" is standard input. It reads the file once, and needs memory for each different stack. Error:
    /// the file cannot be opened, or is no recording. A damaged file is no error: see damage().
    static Result<Recording> read(const std::string& path, const ReadOptions& options = {});

    Recording(Recording&&) noexcept;
    Recording& operator=(Recording&&) noexcept;
    ~Recording();

    Facts facts() const;
    std::size_t events() const;
    /// `index` < events().
    EventFacts event(std::size_t index) const;

    /// Calls `visit` with each sample, or each group of equal samples.
    void for_each_sample(const std::function<void(const Sample&)>& visit) const;

    /// Why the reading ended before the end of the file, with the offset; null if it did not. The samples are those
    /// that come before the damage.
    const Error* damage() const;

  private:
    struct Contents;
    explicit Recording(std::unique_ptr<Contents> contents);

    std::unique_ptr<const Contents> contents_;
};

}  // namespace anyperf::reading
