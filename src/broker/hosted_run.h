// hosted_run.h: a run that this process hosts and measures at the same time. A background thread is the broker. The
// verb's own thread starts commands in the run and opens events on them by the subsystem's calls. So the verb need not
// be a program of the run, which would be translated and measured itself.
//
// The command's thread page exists before its process, so events can be opened on a command that has not started yet;
// its exec enables them (enable_on_exec).
#pragma once

#include <sys/types.h>

#include <expected>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "anyperf/attr.h"
#include "broker/launch/code_store.h"
#include "broker/launch/launch.h"
#include "broker/launch/run_options.h"
#include "broker/server.h"
#include "run/thread_pages.h"
#include "subsystem/requests.h"

namespace anyperf::broker {

class HostedRun {
  public:
    /// Makes the run and starts the thread that serves it. `options.command` is ignored. Error: as of run().
    static Result<std::unique_ptr<HostedRun>> begin(const RunOptions& options);
    /// Stops serving. If programs are left and any event was opened, a forked copy of this process serves them.
    ~HostedRun();
    HostedRun(const HostedRun&) = delete;
    HostedRun& operator=(const HostedRun&) = delete;

    /// The directory of the presented machine's files, with those of its tracepoints if `tracepoints` is set; empty if
    /// they could not be written. It is removed at the end of the run.
    std::string machine_files(bool tracepoints);

    /// The id in records of a task that the kernel knows by `id`, and the kernel's for one in records (RunMemory).
    std::int32_t shown_id(std::int32_t id) const { return memory_.shown_id(id); }
    std::int32_t kernel_id(std::int32_t shown) const { return memory_.kernel_id(shown); }

    /// How many units of exact counts (RunOptions::exact) are used. recording/exact_profile.h reads them.
    std::uint32_t exact_units() const { return memory_.use().exact_units; }
    /// Copies bytes of the run memory at `offset`, as pread(2). Returns how many, 0 on failure.
    std::size_t read_memory(std::uint64_t offset, std::span<std::byte> to) const;

    /// Whether the run has a built-in tracepoint with this number. Only the kernel counts the others.
    bool has_tracepoint(std::uint64_t id) { return server_->has_tracepoint(id); }

    // ---- commands, one at a time: prepare(), fork(2), forked() in the parent, execute() in the child ----

    /// Finds the command and takes its thread page. Error: as of Launch::prepare().
    Result<void> prepare(std::span<const std::string> command);
    /// In the parent: the process exists and has not called execute() yet. From here on events can be opened on it.
    void forked(pid_t process);
    /// In the child. Returns only if the engine cannot be executed: errno.
    int execute() const { return launch_->execute(); }
    /// Whether the engine has started the command. If it has not when the process has ended, it has reported the reason
    /// on standard error.
    bool has_begun() const;
    /// To be called when the process has ended, before it is waited for.
    void ended(pid_t process) { server_->about_to_reap(process); }

    // ---- events; results as of the system calls, but -errno on failure ----

    /// perf_event_open(2) without cgroups. Returns the event's number, which is above 0 and not a descriptor; the calls
    /// below take it. `group`: such a number, or -1.
    int open(const abi::Attr& attr, pid_t pid, int cpu, int group, unsigned long flags);
    /// Why the last open that failed was refused, in words.
    std::string_view reason() const { return reason_; }
    /// `buffer` must have room for all values of the event.
    ssize_t read(int event, std::span<std::byte> buffer);
    /// Requests whose argument is a number, an event (~0: none) or a text (SET_FILTER). The others, with a pointer,
    /// fail with EFAULT.
    int ioctl(int event, std::uint32_t request, std::uint64_t argument);
    void close(int event);
    /// mmap(2) of the event: its ring, header page first. -errno on failure. The memory is shared with the programs of
    /// the run, which may write anything there. An event with `inherit` needs no CPU.
    std::expected<std::span<std::byte>, int> map(int event, std::size_t bytes, bool overwrite);
    /// Ends the mapping of the event that map() made.
    void unmap(int event);
    /// The records that were dropped because the lock of a ring could not be had; of the rings that are mapped.
    std::uint64_t locked_out();
    /// An eventfd that becomes readable when an event of this process has more to read or has ended.
    int wake_fd() const { return wake_.get(); }

  private:
    explicit HostedRun(RunMemory memory);
    /// A thread page for the next command, or -1 if all are taken.
    std::int64_t take_command_page();

    RunMemory memory_;
    CodeStoreTrimmer trimmer_;
    OwnedFd to_broker_;  ///< the programs' end of the request socket; later commands inherit it
    OwnedFd stop_;       ///< an eventfd; readable: stop serving
    OwnedFd wake_;       ///< see wake_fd()
    LiftedLimits limits_;
    std::unique_ptr<Server> server_;
    std::thread serving_;
    std::unique_ptr<Launch> launch_;
    std::uint32_t page_ = run::kNoPage;  ///< of the command's first thread
    std::string_view reason_;
    std::map<int, subsystem::Mapping> mappings_;  ///< by event
};

}  // namespace anyperf::broker
