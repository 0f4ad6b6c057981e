// sink.h: where `stat`'s results go: standard error, which the command leaves to us, or the file of -o.
#pragma once

#include <cstdio>
#include <memory>
#include <string_view>

#include "anyperf/error.h"
#include "cli/output.h"
#include "cli/stat/options.h"

namespace anyperf::cli::stat {

class Sink {
  public:
    /// Opens the file of -o where there is one. Error: it can't be written.
    static Result<Sink> open(const Options& options, Output& output);

    /// Each piece is written out at once: an interval is read while the next one runs.
    void write(std::string_view text);
    /// Error: the disk is full, or the like.
    Result<void> close();

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    explicit Sink(Output& output) : output_(&output) {}

    Output* output_;
    std::unique_ptr<std::FILE, Close> file_;
    std::string name_;
};

}  // namespace anyperf::cli::stat
