// event_files.h: script --per-event-dump: the lines of each event go to a file of its own, FILE.EVENT.dump.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli {

class EventFiles {
  public:
    /// `input` is the recording's name, with which those of the files begin.
    explicit EventFiles(std::string input) : input_(std::move(input)) {}

    /// Appends lines of a number of samples to the file of an event. After an error it does nothing.
    void write(std::size_t event, std::string_view name, std::string_view lines, std::uint64_t samples);

    /// Closes the files. Returns what was written: a line for each, in perf's form. Error: one could not be written.
    Result<std::string> finish();

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    struct File {
        std::string path;
        std::unique_ptr<std::FILE, Close> stream;
        std::uint64_t bytes = 0, samples = 0;
    };

    std::string input_;
    std::vector<File> files_;  // by event
    std::optional<Error> error_;
};

}  // namespace anyperf::cli
