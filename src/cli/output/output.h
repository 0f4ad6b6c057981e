// output.h: the streams for a verb's results and notes. Verbs print through this class only, so that `main` can check
// once whether the results were delivered, and tests can capture both.
#pragma once

#include <cstdio>
#include <string_view>

namespace anyperf::cli {

/// Results and notes of one verb. Does not own the streams. `main` looks at ferror(3) of the stream of results; a verb
/// whose results are notes looks at notes_failed().
class Output {
  public:
    Output(std::FILE* results, std::FILE* notes) : results_(results), notes_(notes) {}

    /// Writes a result: what the user asked for.
    void print(std::string_view text);
    /// Writes anything else: progress, warnings, what was done instead. `stat` writes its counts here, too, because
    /// standard output belongs to the command.
    void note(std::string_view text);
    /// Whether a note could not be written, as on a full disk.
    bool notes_failed() const;

  private:
    std::FILE* results_;
    std::FILE* notes_;
};

}  // namespace anyperf::cli
