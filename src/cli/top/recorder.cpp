// recorder.cpp: starts the recorder as another process of this program, /proc/self/exe, so that both are of one version
// wherever it is installed. posix_spawn(3) sets the child's descriptors and signal mask, so no code of this process
// runs between fork and exec.
//
// Who holds which end of the pipe decides how the recording ends. This process keeps no writing end, so the reader sees
// the end of the pipe when the recorder has ended. It has the reading end open twice, once as LiveProfile's own file;
// it closes the first, so that the recorder gets SIGPIPE if the reader stops early.
#include "cli/top/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "try.h"

namespace anyperf::cli::top {

namespace {

using broker::OwnedFd;

constexpr const char* kSelf = "/proc/self/exe";
constexpr int kPipeBytes = 1 << 20;  // /proc/sys/fs/pipe-max-size of unprivileged users, as a rule

Error cannot_start(std::string_view what) {
    return {"cannot start the recorder", fmt::format("{}: {}", what, std::generic_category().message(errno)), ""};
}

struct Pipe {
    OwnedFd read, write;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) < 0) return std::unexpected(cannot_start("pipe"));
    return Pipe{OwnedFd{ends[0]}, OwnedFd{ends[1]}};
}

/// The attributes of the child: no signal is blocked, as the recorder and its command expect it.
class SpawnAttributes {
  public:
    SpawnAttributes() {
        ::posix_spawnattr_init(&attributes_);
        sigset_t none;
        ::sigemptyset(&none);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    }
    SpawnAttributes(const SpawnAttributes&) = delete;
    SpawnAttributes& operator=(const SpawnAttributes&) = delete;
    ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
    const posix_spawnattr_t* get() const { return &attributes_; }

  private:
    posix_spawnattr_t attributes_{};
};

class SpawnActions {
  public:
    SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;
    ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
    posix_spawn_file_actions_t* get() { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

}  // namespace

// The pipes are close-on-exec; the copies that adddup2 makes in the child are not. The recorder's standard input is
// /dev/null while the terminal is in use: its command would take keys away.
Result<Recorder> Recorder::start(const std::vector<std::string>& words, bool keep_messages) {
    Recorder recorder;
    Pipe samples = TRY(make_pipe());
    ::fcntl(samples.write.get(), F_SETPIPE_SZ, kPipeBytes);  // smaller if it may not
    SpawnActions actions;
    ::posix_spawn_file_actions_adddup2(actions.get(), samples.write.get(), STDOUT_FILENO);
    Pipe messages;
    if (keep_messages) {
        messages = TRY(make_pipe());
        ::fcntl(messages.read.get(), F_SETFL, O_NONBLOCK);
        ::posix_spawn_file_actions_adddup2(actions.get(), messages.write.get(), STDERR_FILENO);
        ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    std::vector<std::string> texts{"anyperf", "record", "-o", "-"};
    texts.insert(texts.end(), words.begin(), words.end());
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    const SpawnAttributes attributes;
    errno = ::posix_spawn(&recorder.pid_, kSelf, actions.get(), attributes.get(), pointers.data(), ::environ);
    if (errno != 0) return std::unexpected(cannot_start(kSelf));
    recorder.recording_ = std::move(samples.read);
    recorder.messages_ = std::move(messages.read);
    return recorder;
}

Recorder::Recorder(Recorder&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      recording_(std::move(other.recording_)),
      messages_(std::move(other.messages_)) {}

Recorder::~Recorder() {
    if (pid_ < 0) return;
    stop();
    wait();
}

// Opening /dev/fd/N opens the pipe once more, since the reader opens its files by path (proc(5), /proc/PID/fd).
std::string Recorder::recording() const {
    return fmt::format("/dev/fd/{}", recording_.get());
}

std::string Recorder::messages() {
    std::string text;
    std::array<char, 4096> piece{};
    while (messages_) {
        const ssize_t got = ::read(messages_.get(), piece.data(), piece.size());
        if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
        if (got == 0) messages_ = OwnedFd{};  // the last writer has ended
        if (got <= 0) break;
    }
    return text;
}

void Recorder::stop() const {
    if (pid_ > 0) ::kill(pid_, SIGTERM);
}

int Recorder::wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace anyperf::cli::top
