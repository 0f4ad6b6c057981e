// server.h: hosts the events of one run: takes requests from the programs in it, asks the subsystem, answers. One
// thread; it ends when the command has ended and nobody holds the run any more.
#pragma once

#include <sys/epoll.h>
#include <sys/types.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "broker/machine_files.h"
#include "broker/run_host.h"
#include "broker/run_memory.h"
#include "pmu/cpu_models.h"
#include "pmu/probe_events.h"
#include "pmu/tracepoint.h"
#include "subsystem/subsystem.h"

namespace anyperf::broker {

/// What of the virtual machine its user may choose.
struct MachineOptions {
    unsigned counters = 0;  ///< general counters of the cpu PMU; 0: as many as there are events
    pmu::CpuModel cpu_model = pmu::model_of_features();  ///< what programs are told of the CPU
};

class Server {
  public:
    /// `memory` outlives it; `requests` is the end of the socket that programs do not have.
    Server(RunMemory& memory, OwnedFd requests, const MachineOptions& machine);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Serves until the child has ended; its status as wait(2) gives it. For processes that it leaves behind and that
    /// use events a copy of this process goes on serving, until the last of them has ended.
    int serve_until_exit(pid_t child);
    /// The same for a host that waits for its commands itself: serves until `stop` can be read.
    void serve_until(int stop);
    /// As serve_until_exit() at its end. Nobody else serves or asks meanwhile.
    void stay_for_the_rest();

    /// The subsystem for this process itself, which is no program of the run; any thread. `ask` is called with it and
    /// with who is to be named as the caller.
    template <class Question>
    auto ask(const Question& question) {
        const std::lock_guard held{lock_};
        const TaskName self = begin_asking();
        auto answer = question(subsystem(), self);
        end_asking();
        return answer;
    }
    /// A process of the run, which may end by a signal: then the broker tells of its end.
    void know(pid_t process);
    /// It has ended, and is about to be waited for.
    void about_to_reap(pid_t process);
    /// The files of the virtual machine, or the directory itself; "" where they can't be made.
    std::string machine_files(std::uint32_t part);

  private:
    struct Machine;
    /// A child that its parent is about to make. It is told of to the subsystem once: by the parent, by itself, or by
    /// who asks for it, whoever is first.
    struct Pending {
        TaskName parent;
        subsystem::ForkKind kind = subsystem::ForkKind::process;
        std::uint32_t page = 0;  ///< of the child
    };
    /// What the broker has of an event that a program has open.
    struct EventSocket {
        OwnedFd fd;               ///< our end of its descriptor
        std::uint64_t inode = 0;  ///< of theirs
    };
    /// What a descriptor that is waited for is of.
    enum class Watched : std::uint32_t { requests, command, event, process, wake };
    struct Received {
        resident::Request request;
        std::size_t bytes = 0;
        OwnedFd descriptor;
    };

    /// The subsystem and its PMUs, made when the first event is opened.
    Machine& machine();
    subsystem::Subsystem& subsystem();
    TaskName begin_asking();
    void end_asking();
    bool serve_once();
    int wait_for_news(std::span<epoll_event> ready);
    bool receive(Received& out);
    void serve_requests();
    void handle(Received& received);
    void answer(const resident::RequestHead& head, std::int64_t value, std::span<const std::byte> payload = {},
                EventIndex event = 0);
    void tell_changes();
    void note_wanted();
    void watch(int fd, Watched what, std::uint32_t number = 0);
    void on_descriptor(Watched what, std::uint32_t number);
    bool is_open(EventIndex event) const { return events_.contains(event); }
    void close_event(EventIndex event);
    /// Its pidfd says so.
    void end_process(std::int32_t pid);
    /// While it lives its pages are its own to give back.
    void end_threads_of(std::int32_t pid, bool dead);
    void end_thread(const TaskName& task);
    void know_process(std::int32_t pid);
    void be_born(std::uint32_t number, const TaskName& child);
    void notice_births();
    bool make_files(std::uint32_t part);
    void execute(const resident::RequestHead& head, std::string_view name);

    // One a kind of request (requests.cpp).
    void on_open(Received& received);
    void on_read(Received& received);
    void on_control(Received& received);
    void on_map(Received& received);
    void on_unmap(Received& received);
    void on_identify(Received& received);
    void on_before_clone(Received& received);
    void on_clone_failed(Received& received);
    void on_cloned(Received& received);
    void on_begin(Received& received);
    void on_executing(Received& received);
    void on_executed(Received& received);
    void on_end(Received& received);
    void on_renamed(Received& received);
    void on_mapped(Received& received);
    void on_new_namespaces(Received& received);
    void on_switch_events(Received& received);
    void on_files(Received& received);
    void on_poll(Received& received);
    void on_wake(Received& received);
    void on_ran_out(Received& received);
    void on_reaping(Received& received);
    void on_define_probes(Received& received);
    void on_switched(Received& received);
    void on_made_cgroup(Received& received);
    void on_loaded_bpf(Received& received);

    RunMemory& memory_;
    MachineOptions options_;
    MachineFiles files_;
    pmu::ProbePlaces places_;
    pmu::ProbeEvents probes_;
    pmu::TracepointPmu tracepoints_;
    OwnedFd requests_;
    OwnedFd epoll_;
    OwnedFd wake_;     ///< of who serves: what is asked for has changed how long to sleep
    std::mutex lock_;  ///< of all that follows, between who serves and who asks
    bool nobody_left_ = false;
    int looks_ = 0;                 ///< how often to look before sleeping
    bool asked_elsewhere_ = false;  ///< who was answered last runs on another CPU
    std::unique_ptr<Machine> machine_;
    std::unordered_map<EventIndex, EventSocket> events_;
    std::unordered_map<std::uint64_t, EventIndex> event_by_inode_;
    std::multimap<EventIndex, subsystem::Mapping> mappings_;
    std::map<std::int32_t, OwnedFd> processes_;  ///< pidfds, by pid
    std::map<std::uint32_t, Pending> pending_;   ///< by the number given to the parent
    std::uint32_t next_pending_ = 1;
    std::set<std::uint32_t> told_executions_;  ///< thread pages whose next program has been told of already
};

}  // namespace anyperf::broker
