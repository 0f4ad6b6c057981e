// output_files.h: a recording that goes on in another file from time to time (--switch-output), as perf-record(1)
// describes it: by a signal, when a file has a size, or after a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "anyperf/error.h"

namespace anyperf::cli::record {

/// When the file is switched. One of the three.
struct SwitchMode {
    bool on_signal = false;   ///< at SIGUSR2
    std::uint64_t bytes = 0;  ///< 0: at no size
    std::uint64_t ns = 0;     ///< 0: at no time

    bool switches() const { return on_signal || bytes != 0 || ns != 0; }
};

/// "signal", "100M", "30s". Error: it is none of them.
Result<SwitchMode> parse_switch_mode(std::string_view text);

/// "123", "4K", "16M", "2G": bytes, or `unit` each if there is no letter. Nothing if it is not such a number.
std::optional<std::uint64_t> size_in_bytes(std::string_view text, std::uint64_t unit);

/// The names of the files. Each is written as FILE, and renamed when it is finished.
class OutputFiles {
  public:
    /// `most`: of finished files that are kept; 0: all.
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
