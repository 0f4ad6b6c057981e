// launch.cpp: see launch.h.
#include "broker/launch.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace anyperf::broker {

namespace {

namespace filesystem = std::filesystem;

/// The engine stands beside us: in the build tree and where `cmake --install` puts it, ../libexec/anyperf from bin/.
Result<std::string> engine_path() {
    std::error_code error;
    const filesystem::path self = filesystem::read_symlink("/proc/self/exe", error);
    const filesystem::path engine = self.parent_path().parent_path() / "libexec/anyperf/anyperf-engine";
    if (!error && ::access(engine.c_str(), X_OK) == 0) return engine.string();
    return std::unexpected(Error{"cannot start the engine", "there is no " + engine.string() + " that can be executed",
                                 "install anyperf whole: bin/anyperf needs libexec/anyperf/anyperf-engine beside it"});
}

/// Finds a command as execvp(3) would. The Error has the exit status that `env` gives: 127 not found, 126 not
/// executable.
Result<std::string> find_command(const std::string& name) {
    const auto not_found = [&](const char* cause) {
        return std::unexpected(Error{"cannot run " + name, cause, "", 127});
    };
    if (name.empty()) return not_found("the command's name is empty");
    if (name.contains('/')) return name;  // the engine says what is wrong with it
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    bool denied = false;
    for (;;) {
        const std::size_t colon = rest.find(':');
        const std::string directory{rest.substr(0, colon)};
        const std::string candidate = directory.empty() ? name : directory + "/" + name;
        std::error_code ignored;
        if (filesystem::is_regular_file(candidate, ignored)) {
            if (::access(candidate.c_str(), X_OK) == 0) return candidate;
            denied = true;
        }
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
    }
    if (denied)
        return std::unexpected(
            Error{"cannot run " + name, "it is in PATH, but may not be executed", "chmod +x it", 126});
    return not_found("no directory of PATH has it");
}

}  // namespace

Result<Launch> Launch::prepare(RunMemory& memory, int to_broker, std::vector<std::string> command) {
    const std::string engine = TRY(engine_path());
    const std::string program = TRY(find_command(command.front()));
    engine.copy(memory.header().engine_path, sizeof memory.header().engine_path - 1);
    Launch launch;
    launch.memory_ = memory.fd();
    launch.to_broker_ = to_broker;
    launch.fixed_addresses_ = memory.header().deterministic != 0;
    launch.words_ = {engine, "anyperf-engine", "", program};
    launch.words_.insert(launch.words_.end(), std::move_iterator{command.begin()}, std::move_iterator{command.end()});
    launch.begin_with(-1);
    return launch;
}

void Launch::begin_with(std::int64_t page) {
    // engine/start_argument.h
    words_[2] = std::to_string(memory_) + ",0,-1," + std::to_string(to_broker_) + "," + std::to_string(page) + ",0";
    arguments_.clear();
    for (std::size_t i = 1; i < words_.size(); ++i) arguments_.push_back(words_[i].data());
    arguments_.push_back(nullptr);
}

int Launch::execute() const {
    ::fcntl(memory_, F_SETFD, 0);
    ::fcntl(to_broker_, F_SETFD, 0);
    limits_.restore();
    if (fixed_addresses_) ::personality(ADDR_NO_RANDOMIZE);
    ::execv(words_.front().c_str(), arguments_.data());
    return errno;
}

Result<std::pair<OwnedFd, OwnedFd>> request_socket() {
    std::array<int, 2> pair{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) == 0)
        return std::pair{OwnedFd{pair[0]}, OwnedFd{pair[1]}};
    return std::unexpected(
        Error{"cannot start a run", "socketpair: " + std::generic_category().message(errno), "see `ulimit -n`"});
}

}  // namespace anyperf::broker
