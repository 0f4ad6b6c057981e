// control_channel.cpp: --control as perf-stat(1) has it: a program enables and disables events while they are counted,
// by lines of text, and waits for an answer to each.
//
// For instance, a benchmark measures only its inner loop:
//
//     mkfifo ctl ack
//     anyperf stat -D -1 --control fifo:ctl,ack -- ./benchmark
//
// The benchmark writes "enable\n" to ctl and reads "ack\n" from ack before the loop, and does the same with "disable\n"
// after it. The answer matters: without it the loop could begin before the events are enabled.
#include "cli/command/control_channel.h"

#include "try.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

namespace anyperf::cli {

namespace {

constexpr std::size_t kLongestLine = 4096;  // a longer line is not a command; it is dropped

Error bad_control(const std::string& text, std::string cause, std::string fix) {
    return {"bad --control " + text, std::move(cause), std::move(fix)};
}

/// The descriptor `name`, which must be open for `access` (O_RDONLY: reading, O_WRONLY: writing).
Result<int> open_descriptor(const std::string& text, const std::string& name, int access) {
    int fd = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), fd);
    if (error != std::errc{} || end != name.data() + name.size() || fd < 0)
        return std::unexpected(bad_control(text, "\"" + name + "\" is not the number of a descriptor",
                                           "--control fd:3,4, with 3 and 4 opened by the shell"));
    const int mode = ::fcntl(fd, F_GETFL);
    if (mode < 0)
        return std::unexpected(
            bad_control(text, "descriptor " + name + " is not open", "open it in the shell: exec " + name + "<>FIFO"));
    const int opposite = access == O_RDONLY ? O_WRONLY : O_RDONLY;
    if ((mode & O_ACCMODE) == opposite)
        return std::unexpected(
            bad_control(text, "descriptor " + name + " is not open for " + (access == O_RDONLY ? "reading" : "writing"),
                        "the first descriptor is for commands, the second one for acknowledgements"));
    return fd;
}

/// The FIFO `name`, open for both directions: then the open does not wait for the other end, and the last writer's
/// close is not an end of file. perf does the same.
Result<int> open_fifo(const std::string& text, const std::string& name, int) {
    const int fd = ::open(name.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return std::unexpected(bad_control(text, "cannot open " + name + ": " + std::generic_category().message(errno),
                                           "create it before: mkfifo " + name));
    struct stat info{};
    if (::fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode)) return fd;
    ::close(fd);
    return std::unexpected(bad_control(text, name + " is not a FIFO", "create one: mkfifo PATH"));
}

/// A way to name the two descriptors.
struct Form {
    std::string_view prefix;
    Result<int> (*open)(const std::string& text, const std::string& name, int access);
    bool owned;  ///< whether the descriptors are this process's own
};
constexpr std::array kForms{Form{"fd:", open_descriptor, false}, Form{"fifo:", open_fifo, true}};

// A command of perf's. `acknowledged`: the answer "ack" follows; `takes_event`: an event's name may follow the word.
struct Word {
    std::string_view word;
    ControlCommand command;
    bool acknowledged;
    bool takes_event;
};
constexpr std::array kWords{
    Word{"enable", ControlCommand::enable, true, true},       Word{"disable", ControlCommand::disable, true, true},
    Word{"evlist", ControlCommand::list_events, true, false}, Word{"ping", ControlCommand::nothing, true, false},
    Word{"stop", ControlCommand::stop, true, false},          Word{"snapshot", ControlCommand::snapshot, false, false},
};

}  // namespace

// The second name is optional: without it commands are executed and not acknowledged.
Result<ControlChannel> ControlChannel::open(const std::string& text) {
    const auto form = std::ranges::find_if(kForms, [&](const Form& row) { return text.starts_with(row.prefix); });
    const std::string names = form == kForms.end() ? "" : text.substr(form->prefix.size());
    const auto comma = names.find(',');
    const std::string commands = names.substr(0, comma);
    const std::string acknowledgements = comma == std::string::npos ? "" : names.substr(comma + 1);
    if (commands.empty() || (comma != std::string::npos && acknowledgements.empty()))
        return std::unexpected(bad_control(text, "it has not the form fd:A[,B] or fifo:A[,B]",
                                           "A is where commands come from, B where acknowledgements go"));
    ControlChannel channel;
    channel.owned_ = form->owned;
    channel.commands_ = TRY(form->open(text, commands, O_RDONLY));
    if (!acknowledgements.empty()) channel.acknowledgements_ = TRY(form->open(text, acknowledgements, O_WRONLY));
    return channel;
}

ControlChannel::ControlChannel(ControlChannel&& other) noexcept
    : commands_(std::exchange(other.commands_, -1)),
      acknowledgements_(std::exchange(other.acknowledgements_, -1)),
      owned_(other.owned_),
      unfinished_(std::move(other.unfinished_)) {}

ControlChannel::~ControlChannel() {
    if (!owned_) return;
    if (commands_ >= 0) ::close(commands_);
    if (acknowledgements_ >= 0) ::close(acknowledgements_);
}

// One read(2), after poll(2) has reported the descriptor: a descriptor of the user's may be blocking, and a second read
// would wait. The part of a line that has no end yet is kept.
std::vector<std::string> ControlChannel::read_lines() {
    pollfd one{commands_, POLLIN, 0};
    if (commands_ < 0 || ::poll(&one, 1, 0) <= 0) return {};
    std::array<char, 1024> piece;
    const ssize_t got = ::read(commands_, piece.data(), piece.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (got <= 0) {  // end of file: polling it further would never wait
        if (owned_) ::close(commands_);
        commands_ = -1;
        return {};
    }
    unfinished_.append(piece.data(), static_cast<std::size_t>(got));
    std::vector<std::string> lines;
    for (auto end = unfinished_.find('\n'); end != std::string::npos; end = unfinished_.find('\n')) {
        lines.push_back(unfinished_.substr(0, end));
        unfinished_.erase(0, end + 1);
    }
    if (unfinished_.size() > kLongestLine) unfinished_.clear();
    return lines;
}

void ControlChannel::acknowledge() const {
    if (acknowledgements_ < 0) return;
    // A pipe without a reader would kill this process by SIGPIPE.
    const auto handler = ::signal(SIGPIPE, SIG_IGN);
    constexpr std::string_view kAcknowledged = "ack\n";
    [[maybe_unused]] const ssize_t written = ::write(acknowledgements_, kAcknowledged.data(), kAcknowledged.size());
    ::signal(SIGPIPE, handler);
}

ControlLine parse_control_line(std::string_view line) {
    const auto blank = line.find(' ');
    const auto row = std::ranges::find(kWords, line.substr(0, blank), &Word::word);
    if (row == kWords.end()) return {};
    ControlLine parsed{row->command, "", row->acknowledged};
    if (row->takes_event && blank != std::string_view::npos) parsed.event = line.substr(blank + 1);
    return parsed;
}

}  // namespace anyperf::cli
