#include "engine/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace anyperf::engine_test {

namespace {

struct PipeEnds {
    int from = -1, to = -1;
    PipeEnds() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) == 0) from = ends[0], to = ends[1];
    }
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> out;
    out.reserve(words.size() + 1);
    for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

[[noreturn]] void exec_command(const Command& command, int out, int err) {
    setpgid(0, 0);
    const int no_input = open("/dev/null", O_RDONLY);
    if (no_input < 0 || out < 0 || err < 0) _exit(125);
    dup2(no_input, 0);
    dup2(out, 1);
    dup2(err, 2);
    if (!command.directory.empty() && chdir(command.directory.c_str()) != 0) _exit(125);
    // execvp() searches the PATH of `environ`. It must be the PATH that the program gets, not the test's, because a
    // program such as CPython searches PATH for itself to find its own files.
    std::vector<char*> environment = pointers(command.environment);
    environ = environment.data();
    execvp(command.words.front().c_str(), pointers(command.words).data());
    _exit(127);
}

/// Reads once and appends the bytes to `into`. False at the end of the stream or after an error.
bool drain(int fd, std::string& into) {
    std::array<char, 65536> buffer;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
    return got > 0;
}

/// Reads both streams to their ends. False if `deadline` comes first.
bool collect(int out, int err, Outcome& outcome, std::chrono::steady_clock::time_point deadline) {
    std::array<pollfd, 2> streams{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        const int ready = poll(streams.data(), streams.size(), static_cast<int>(left.count()));
        if (ready == 0) return false;
        if (ready < 0) continue;  // a signal arrived: `revents` are those of the last round
        if (streams[0].revents && !drain(out, outcome.out)) streams[0].fd = -1;
        if (streams[1].revents && !drain(err, outcome.err)) streams[1].fd = -1;
    }
    return true;
}

}  // namespace

std::vector<std::string> usual_environment() {
    std::vector<std::string> out{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
                                 "HOME=/nonexistent", "LANG=C.UTF-8"};
    for (char** variable = environ; *variable != nullptr; ++variable)
        if (std::string_view{*variable}.starts_with("ANYPERF_ENGINE_")) out.emplace_back(*variable);
    return out;
}

Outcome run(const Command& command) {
    PipeEnds out, err;
    const pid_t child = fork();
    if (child == 0) exec_command(command, out.to, err.to);
    if (child > 0) setpgid(child, child);
    close(out.to);
    close(err.to);
    Outcome outcome;
    outcome.timed_out = !collect(out.from, err.from, outcome, std::chrono::steady_clock::now() + command.limit);
    if (outcome.timed_out && child > 0) kill(-child, SIGKILL);
    int status = 125 << 8;  // the exit status of a command that could not be started
    if (child > 0) waitpid(child, &status, 0);
    close(out.from);
    close(err.from);
    outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return outcome;
}

Command under_engine(Command command, const std::vector<std::string>& options) {
    std::vector<std::string> words{ANYPERF_BINARY_DIR "/bin/anyperf", "run"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.words.begin(), command.words.end());
    command.words = std::move(words);
    return command;
}

std::optional<std::string> engine_missing() {
    static const Outcome help = run({.words = {ANYPERF_BINARY_DIR "/bin/anyperf", "run", "--help"}, .directory = {}});
    if (help.status == 0 && help.out.contains("--count-to")) return std::nullopt;
    return "this anyperf has no verb `run`";
}

Scratch::Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "anyperf-test-XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
}

Scratch::~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace anyperf::engine_test
