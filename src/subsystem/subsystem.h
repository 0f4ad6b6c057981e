// subsystem.h: the perf_event subsystem as a library: every call of the interface that clients may make, and what tasks
// do that matters to it. One thread at a time; deterministic; a call is complete when it returns. It knows neither the
// engine nor the machine: Host and Pmu are all it has.
//
// Events are named by the index of their page. A client's descriptor names an event from `open` until `close`; an index
// that names no open event is answered with EBADF, or does nothing. The event itself lives until it is neither open nor
// mapped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "subsystem/answer.h"
#include "subsystem/host.h"
#include "subsystem/pmu_driver.h"
#include "subsystem/records/interests.h"
#include "subsystem/records/kernel_text.h"
#include "subsystem/records/mappings.h"
#include "subsystem/records/tasks.h"

namespace anyperf::subsystem {

/// A descriptor that a client has named: `none` is -1; one that is no event's has no `event`.
struct Descriptor {
    bool none = true;
    std::optional<EventIndex> event = std::nullopt;
    bool open = false;  ///< it is the descriptor of something
};

struct OpenRequest {
    TaskName caller;
    std::span<const std::byte> attr = {};  ///< what can be read at the pointer, up to 4096 bytes; empty: nothing can
    std::int32_t pid = 0;
    std::int32_t cpu = -1;
    Descriptor group = {};
    std::uint64_t flags = 0;
    bool descriptor_free = true;  ///< false: EMFILE, where nothing that is asked before is wrong
    /// With PERF_FLAG_PID_CGROUP: the cgroup whose directory `pid` is the descriptor of; nothing: EBADF.
    std::optional<std::uint64_t> cgroup = std::nullopt;
    /// What the path at attr.config1 leads to, for PMUs whose events have one there.
    ProbedFile file = {};
};

/// An ioctl's third argument, fetched by its kind (abi::kIoctls).
struct IoctlArgument {
    std::uint64_t word = 0;  ///< as it was passed
    std::span<const std::byte> bytes =
        {};                      ///< of a pointer: what can be read there, up to 4096 bytes; empty: nothing can
    Descriptor descriptor = {};  ///< where it is one (for the whole 64 bits; PERF_EVENT_IOC_SET_OUTPUT -1: none)
};

struct IoctlAnswer {
    std::int64_t value = 0;
    std::vector<std::byte> written = {};  ///< to the pointer: EFAULT where that fails
};

struct MapRequest {
    TaskName caller;
    std::uint64_t length = 0;  ///< bytes, as passed
    std::uint64_t offset = 0;
    std::int32_t prot = 0;   ///< PROT_*
    std::int32_t flags = 0;  ///< MAP_*
};

/// Where a mapping lies in the shared memory. Each `map` that succeeds is ended by one `unmap`.
struct Mapping {
    RingIndex ring = 0;
    std::uint64_t offset = 0;  ///< of the header page, bytes
    std::uint64_t bytes = 0;
};

struct PollState {
    bool in = false;       ///< a wake-up that nobody has seen
    bool hang_up = false;  ///< no ring, or the task is gone for good
    bool error = false;    ///< pinned, and did not fit (POLLERR)
};

enum class ForkKind : std::uint8_t {
    process,
    thread,          ///< CLONE_THREAD
    clears_signals,  ///< a process with CLONE_CLEAR_SIGHAND: sigtrap events are not inherited
};

using NamespaceLinks = std::array<NamespaceLink, kNamespaces>;

class Subsystem {
  public:
    /// `pmus` in the order in which they are asked; they and the host live longer than this.
    Subsystem(Host& host, std::vector<Pmu*> pmus);
    ~Subsystem();
    Subsystem(const Subsystem&) = delete;
    Subsystem& operator=(const Subsystem&) = delete;

    // ---- what clients call ----

    /// perf_event_open(2). A refusal with `attr_size` wants that written to the caller's attr.size.
    Answer<EventIndex> open(const OpenRequest& request);
    /// The last descriptor is gone. The event lives on while a mapping of it does.
    void close(EventIndex event);
    /// read(2): as many bytes as the layout has; none for an event in error state (end of file).
    Answer<std::vector<std::uint64_t>> read(EventIndex event, std::size_t buffer_bytes);
    Answer<IoctlAnswer> ioctl(const TaskName& caller, EventIndex event, std::uint32_t request,
                              const IoctlArgument& argument);
    Answer<Mapping> map(EventIndex event, const MapRequest& request);
    /// One mapping less, in whatever process it was (munmap, exec, exit).
    void unmap(EventIndex event, const Mapping& mapping);
    /// poll(2) as it stands; a wake-up is seen by whoever asks first, so asking takes it.
    PollState poll(EventIndex event);
    /// fcntl(2), F_SETOWN, F_SETSIG, O_ASYNC: whom each overflow is told.
    void notify(EventIndex event, const Notify& whom);
    /// prctl(2), PR_TASK_PERF_EVENTS_ENABLE and _DISABLE: the events that this thread has opened.
    void prctl(const TaskName& caller, bool enable);

    // ---- what tasks do ----

    /// The thread has turned the event off, because its REFRESH ran out: what stands and falls with it stops too.
    void ran_out(EventIndex event);

    /// The thread has written so much into the ring of the event that its readers are to be woken.
    void wrote(EventIndex event);

    /// Before the new task's first instruction.
    void task_forked(const TaskName& parent, const TaskName& child, ForkKind kind);
    /// An execve that succeeds; `task` is as it is afterwards (a thread that execs becomes the leader: `was`). Its
    /// name and mappings are told behind it.
    void task_exec(const TaskName& was, const TaskName& task);
    /// `parent_pid` is the process's.
    void task_exit(const TaskName& task, std::int32_t parent_pid = 0);
    /// It goes on on another CPU; nothing of it runs at the time.
    void task_moved(const TaskName& task, std::int32_t cpu);

    // ---- what tasks do, for records alone (records/interests.h) ----

    void task_comm(const TaskName& task, std::string_view name, bool by_exec);
    void task_mapped(const TaskName& task, const Mapped& mapped);
    /// `other` is who had the CPU before, or gets it; it has happened so many ns ago.
    void task_switched(const TaskName& task, Switch direction, const TaskName& other, std::uint64_t ago_ns = 0);
    void task_namespaces(const TaskName& task, const NamespaceLinks& links);
    void task_made_cgroup(const TaskName& task, std::uint64_t inode, std::string_view path);
    /// A BPF program that it has loaded, and the kernel's code of it.
    void task_loaded_bpf(const TaskName& task, std::span<const KernelSymbol> functions, const BpfProgram& program);
    /// Whether a record of this kind would reach anybody now, whatever the task: what nobody wants needs not be told.
    bool wanted(Interest interest) const { return (wanted() >> static_cast<unsigned>(interest) & 1) != 0; }
    /// The same for all, a bit each by Interest.
    std::uint32_t wanted() const;

    // ---- time ----

    /// Rotates what waits for counters, in tasks that have run for perf_event_mux_interval_ms since the last time.
    void tick();
    /// Whether anything waits for a tick.
    bool rotates() const;

    // ---- for who hosts it ----

    /// Events that live, children included.
    std::size_t events() const;
    /// No task is measured and none will be by itself: what tasks do needs not be told.
    bool idle() const { return events() == 0; }

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace anyperf::subsystem
