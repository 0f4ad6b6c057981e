// command.h: runs a command to its end and captures its output, for suites that compare two runs with each other.
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
    int status = 0;          ///< as a shell reports it: 128 + n if signal n ended the command
    bool timed_out = false;  ///< Command::limit was reached and the command was killed
};

/// The environment of a command, the same on every machine, and the variables ANYPERF_ENGINE_... of the test itself: so
/// a whole suite can be run with such a setting.
std::vector<std::string> usual_environment();

struct Command {
    std::vector<std::string> words;   ///< the program and its arguments
    std::filesystem::path directory;  ///< working directory; empty: that of the test
    std::vector<std::string> environment = usual_environment();
    /// Single-stepping takes up to 50 s at rest.
    std::chrono::seconds limit{240};  ///< after this time its process group is killed
};

/// Runs the command and waits for its end. Its standard input is empty, and it leads a process group of its own.
Outcome run(const Command& command);

/// The same command under `anyperf run OPTIONS --`.
Command under_engine(Command command, const std::vector<std::string>& options = {});

/// Why no command can run under the engine here; nullopt if commands can.
std::optional<std::string> engine_missing();

/// A temporary directory that is removed together with the object.
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
