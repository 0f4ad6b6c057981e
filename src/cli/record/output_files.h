// output_files.h: the files of a recording that goes on in another file from time to time (--switch-output), as
// perf-record(1) describes it: after a signal, at a size, or after a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "anyperf/error.h"

namespace anyperf::cli::record {

/// When the file is switched. At most one of the three is set.
struct SwitchMode {
    bool on_signal = false;   ///< at SIGUSR2
    std::uint64_t bytes = 0;  ///< when the file has this size
    std::uint64_t ns = 0;     ///< after this time

    bool switches() const { return on_signal || bytes != 0 || ns != 0; }
};

/// Parses "signal", a size such as "100M", or a time such as "30s". Error: the text is something else.
Result<SwitchMode> parse_switch_mode(std::string_view text);

/// Parses "123", "64B", "4K", "16M", "2G" into bytes. A number without a letter counts units of `unit` bytes. Nothing
/// if the text is something else, 0, or too large.
std::optional<std::uint64_t> size_in_bytes(std::string_view text, std::uint64_t unit);

/// Removes a recording that is a file, or a directory (--threads). Does nothing to anything else.
void remove_recording(const std::string& path);

/// The file or directory of the recording, and an earlier recording of the same name. As perf does, the earlier one is
/// kept as FILE.old. If nothing is recorded after all, it gets its name back. Otherwise two mistyped commands in a row
/// would destroy a good recording: the first would rename it, and the second would replace FILE.old.
class EarlierRecording {
  public:
    /// Renames a recording that is at `path`.
    explicit EarlierRecording(const std::string& path);
    /// Called when nothing was recorded.
    void undo();

  private:
    std::string path_, old_;
    bool existed_ = true;
    bool kept_ = false;
};

/// Names the files. Each is written as FILE, and renamed when it is finished.
class OutputFiles {
  public:
    /// `most`: how many finished files are kept; 0: all.
    OutputFiles(std::string path, std::size_t most) : path_(std::move(path)), most_(most) {}

    /// Renames FILE to FILE.TIME, with the local time up to hundredths of a second, and removes the oldest file if
    /// there are too many. Returns the new name. Error: the file cannot be renamed.
    Result<std::string> keep();

  private:
    std::string path_;
    std::size_t most_;
    std::deque<std::string> kept_;
};

}  // namespace anyperf::cli::record
