// output.h: where a verb's results and notes go. Verbs never print by themselves, so tests can look at what they say.
#pragma once

#include <cstdio>
#include <string_view>

namespace anyperf::cli {

/// Results and notes of one run of a verb. Does not own the streams.
class Output {
  public:
    Output(std::FILE* results, std::FILE* notes) : results_(results), notes_(notes) {}

    /// A result: what the user asked for.
    void print(std::string_view text);
    /// Everything else: progress, warnings, what was done instead.
    void note(std::string_view text);

  private:
    std::FILE* results_;
    std::FILE* notes_;
};

}  // namespace anyperf::cli
