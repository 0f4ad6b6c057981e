// command.h: runs a command to its end and keeps what it said. For suites that compare a run with another.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace anyperf::engine_test {

struct Outcome {
    std::string out;
    std::string err;
    int status = 0;  ///< as a shell sees it: 128 + n where signal n ended it
    bool timed_out = false;
};

struct Command {
    std::vector<std::string> words;
    std::filesystem::path directory;  ///< empty: where the test runs
    std::vector<std::string> environment{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                         "LC_ALL=C.UTF-8", "HOME=/nonexistent", "LANG=C.UTF-8"};
    std::chrono::seconds limit{100};  ///< then its process group is killed
};

/// Standard input is empty. The command leads a process group of its own.
Outcome run(const Command& command);

/// The same under `anyperf run OPTIONS --`.
Command under_engine(Command command, const std::vector<std::string>& options = {});

/// Why nothing can be run under the engine here; nothing where it can.
std::optional<std::string> engine_missing();

/// A directory that goes away with the object.
class Scratch {
  public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace anyperf::engine_test
