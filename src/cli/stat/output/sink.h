// sink.h: where `stat`'s results go: standard error, since standard output belongs to the command; the file of -o; the
// descriptor of --log-fd; or nowhere (--quiet).
#pragma once

#include <cstdio>
#include <memory>
#include <string_view>

#include "anyperf/error.h"
#include "cli/output/output.h"
#include "cli/stat/options.h"

namespace anyperf::cli::stat {

class Sink {
  public:
    /// Opens what --log-fd or -o names. A file of -o begins with the line "# started on …", as in perf, except if the
    /// results are JSON. With --quiet nothing is opened. `output` must outlive the sink. Error: the file or descriptor
    /// cannot be written.
    static Result<Sink> open(const Options& options, Output& output);

    /// Writes and flushes, so that an interval can be read while the next one is measured. close() returns its errors.
    void write(std::string_view text);
    /// Error: something could not be written, usually because the disk is full.
    Result<void> close();

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    explicit Sink(Output& output) : output_(&output) {}

    Output* output_;
    std::unique_ptr<std::FILE, Close> file_;  ///< null: write to `output_`
    std::string name_;
    bool quiet_ = false;
};

}  // namespace anyperf::cli::stat
