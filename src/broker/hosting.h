// hosting.h: a run whose host is this process, and whose events this process opens itself: a thread serves the programs
// of the run, while the others start commands in it and ask the subsystem what they count. So who measures needs not be
// a program of the run, translated like the others.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "anyperf/attr.h"
#include "broker/launch.h"
#include "broker/run.h"
#include "engine/thread_pages.h"

namespace anyperf::broker {

class Hosting {
  public:
    /// Begins to serve. Of the options the command is not looked at. Error: as of run().
    static Result<std::unique_ptr<Hosting>> begin(const RunOptions& options);
    /// Ends, but for programs that are left and use events: a copy of this process goes on serving those.
    ~Hosting();
    Hosting(const Hosting&) = delete;
    Hosting& operator=(const Hosting&) = delete;

    /// A directory with the files of the virtual machine, that of its tracepoints among them where these are wanted;
    /// empty where none can be written.
    std::string machine_files(bool tracepoints);

    // ---- commands, one at a time: prepare, fork, forked in the parent, execute in the child ----

    /// Error: as of Launch::prepare().
    Result<void> prepare(std::span<const std::string> command);
    /// The process exists, and waits. From here on events can be opened on it.
    void forked(pid_t process);
    /// In that process. Returns where the engine can't be executed: errno.
    int execute() const { return launch_->execute(); }
    /// Whether the engine has begun the command; otherwise it has said why it couldn't, and has ended.
    bool has_begun() const;
    /// The process has ended, and is about to be waited for.
    void ended(pid_t process) { server_->about_to_reap(process); }

    // ---- events, as the system calls answer: -errno where they fail ----

    /// perf_event_open(2), but for cgroups: a number that is good for the calls below, not a descriptor.
    int open(const abi::Attr& attr, pid_t pid, int cpu, int group, unsigned long flags);
    /// Why the last open was refused.
    std::string_view reason() const { return reason_; }
    ssize_t read(int event, std::span<std::byte> buffer);
    /// Those whose argument is a number.
    int ioctl(int event, std::uint32_t request, std::uint64_t argument);
    void close(int event);

  private:
    explicit Hosting(RunMemory memory);
    std::int64_t own_page();

    RunMemory memory_;
    OwnedFd to_broker_;  ///< the programs' end: commands that are still to come inherit it
    OwnedFd stop_;       ///< readable: serve no more
    LiftedLimits limits_;
    std::unique_ptr<Server> server_;
    std::thread serving_;
    std::unique_ptr<Launch> launch_;
    std::uint32_t page_ = engine::kNoPage;  ///< of the command's first thread
    std::string_view reason_;
};

}  // namespace anyperf::broker
