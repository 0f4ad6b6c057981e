// launch.cpp: finds the engine, and executes it with the command as arguments.
//
// The engine takes the command's place: it is executed with its own three arguments before the command's
// (engine/start/start.cpp). It is executed by its descriptor, so the exec needs neither its path nor /proc, and nothing
// can replace the file in between.
#include "broker/launch/launch.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "broker/launch/command_file.h"
#include "try.h"

namespace anyperf::broker {

namespace {

namespace filesystem = std::filesystem;

/// The engine's executable. It is in ../libexec/anyperf, seen from this program's directory, both in the build tree and
/// after `cmake --install`.
Result<std::string> engine_path() {
    std::error_code error;
    filesystem::path self = filesystem::read_symlink("/proc/self/exe", error);
    const bool has_proc = !error;
    // Without /proc: the path by which this program was executed (getauxval(3)).
    if (!has_proc) self = filesystem::canonical(reinterpret_cast<const char*>(::getauxval(AT_EXECFN)), error);
    const filesystem::path engine = self.parent_path().parent_path() / "libexec/anyperf/anyperf-engine";
    if (!error && ::access(engine.c_str(), X_OK) == 0) return engine.string();
    if (!has_proc)
        return std::unexpected(Error{"cannot start the engine",
                                     "/proc is not mounted here, so anyperf does not find its own files",
                                     "mount /proc (bubblewrap: --proc /proc), or start anyperf by its absolute path"});
    return std::unexpected(Error{"cannot start the engine", engine.string() + " is missing or not executable",
                                 "install all of anyperf: bin/anyperf needs libexec/anyperf/anyperf-engine"});
}

Result<OwnedFd> open_engine(const std::string& path) {
    OwnedFd engine{::open(path.c_str(), O_PATH | O_CLOEXEC)};
    if (engine) return engine;
    return std::unexpected(Error{"cannot start the engine", path + ": " + std::generic_category().message(errno),
                                 errno == EMFILE ? "see `ulimit -n`" : ""});
}

}  // namespace

Result<Launch> Launch::prepare(RunMemory& memory, int to_broker, std::vector<std::string> command) {
    const std::string engine = TRY(engine_path());
    Executable executable = TRY(find_executable(std::move(command)));
    engine.copy(memory.header().engine_path, sizeof memory.header().engine_path - 1);
    Launch launch;
    launch.engine_ = TRY(open_engine(engine));
    launch.facts_ = memory.facts_fd();
    launch.memory_ = memory.fd();
    launch.to_broker_ = to_broker;
    launch.fixed_addresses_ = memory.header().deterministic != 0;
    launch.command_line_ = {"anyperf-engine", "", executable.program};
    launch.command_line_.insert(launch.command_line_.end(), std::move_iterator{executable.arguments.begin()},
                                std::move_iterator{executable.arguments.end()});
    launch.set_thread_page(-1);
    return launch;
}

void Launch::set_thread_page(std::int64_t page) {
    // As engine/load/start_argument.h:
    // FACTS_FD,RUN_FD,PROCESS,PROGRAM_FD,BROKER_FD,ENGINE_FD,PAGE, and seven that are 0 for the first process.
    command_line_[1] = std::to_string(facts_) + "," + std::to_string(memory_) + ",0,-1," + std::to_string(to_broker_) +
                       "," + std::to_string(engine_.get()) + "," + std::to_string(page) + ",0,0,0,0,0,0,0";
    arguments_.clear();
    for (std::string& word : command_line_) arguments_.push_back(word.data());
    arguments_.push_back(nullptr);
}

int Launch::execute() const {
    // The engine inherits the descriptors, whose numbers are in its first argument.
    for (const int fd : {facts_, memory_, to_broker_, engine_.get()}) ::fcntl(fd, F_SETFD, 0);
    limits_.restore();
    if (fixed_addresses_) ::personality(ADDR_NO_RANDOMIZE);
    ::execveat(engine_.get(), "", arguments_.data(), environ, AT_EMPTY_PATH);
    return errno;
}

Result<std::pair<OwnedFd, OwnedFd>> make_request_socket() {
    std::array<int, 2> pair{-1, -1};
    constexpr int kOn = 1;
    // The kernel adds the sender's process to each datagram (SO_PASSCRED, unix(7)).
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) == 0 &&
        ::setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &kOn, sizeof kOn) == 0)
        return std::pair{OwnedFd{pair[0]}, OwnedFd{pair[1]}};
    return std::unexpected(
        Error{"cannot start a run", "socketpair: " + std::generic_category().message(errno), "see `ulimit -n`"});
}

}  // namespace anyperf::broker
