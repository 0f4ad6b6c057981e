// open_set.h: opens sampled events on tasks and CPUs and maps their rings. There is one ring for each CPU, and all
// events that are bound to the CPU write to it (PERF_EVENT_IOC_SET_OUTPUT). The kernel refuses to map the ring of an
// inherited event that is not bound to a CPU (perf_mmap()), so a task's event is opened once for each CPU, as perf
// does. A run that this process hosts maps it: there events are bound to no CPU and have one ring.
//
// Opening is a loop. When an open is refused, react() decides by the errno what can be left out: precision that the CPU
// does not have, kernel mode that the user may not see, flags that an older kernel does not know. Then all events are
// closed and opened again: readers have one attr for each event, so it must be the same on all places. Each round
// leaves out something more, so the loop ends. Notes for the user say what was changed for lack of rights or memory. If
// nothing can be left out, the refusal is an error, in the words of ExplainRefusal.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "anyperf/target.h"
#include "perfdata/file_header.h"
#include "recording/backward_ring.h"
#include "recording/ring.h"
#include "recording/ring_source.h"
#include "recording/sampling.h"

namespace anyperf::recording {

inline constexpr unsigned long kPidCgroup = 1ul << 2;  ///< PERF_FLAG_PID_CGROUP of perf_event_open(2)

/// Why an open was refused, in words for people. The kernel and the virtual PMU have different reasons.
using ExplainRefusal = std::function<Error(const events::Event&, const counting::Place&, int errno_value)>;

/// The same for the filter of a tracepoint; `cause` is the kernel's error.
using ExplainFilter = Error (*)(const events::Event&, const std::string& filter, const std::string& cause);

struct OpenRequest {
    std::vector<SampledEvent> events;
    std::vector<counting::Place> places;  ///< those of one CPU share its ring; CPU -1: of all CPUs
    std::size_t ring_bytes = 0;           ///< data of a ring: a power of two pages
    bool ring_bytes_are_wanted = false;   ///< the user chose `ring_bytes`; else rings shrink if memory cannot be locked
    bool stacks_may_shrink = false;       ///< the user did not choose how many bytes of a stack are copied
    std::uint32_t watermark_share = 0;    ///< of a ring that shrinks, the part that wakes the reader; 0: as in the attr
    ExplainRefusal explain;
    ExplainFilter refused_filter = nullptr;  ///< null: no event has a filter
};

/// Owns descriptors and mappings. `source` must outlive it.
class OpenSet {
  public:
    /// Opens all events. Skips tasks that have ended meanwhile. Error: an event was refused, a ring could not be
    /// mapped, or all tasks have ended.
    static Result<OpenSet> open(RingSource& source, OpenRequest request);
    OpenSet(OpenSet&& other) noexcept;
    OpenSet& operator=(OpenSet&&) = delete;
    ~OpenSet();

    /// The events as they were opened, with all their ids.
    std::vector<perfdata::EventInfo> infos() const;
    const std::vector<SampledEvent>& events() const { return request_.events; }
    /// The rings that are not overwritten, one for each CPU.
    std::span<Ring> rings() { return rings_; }
    /// Of each of rings(): its CPU, and the event whose descriptor becomes readable when the ring reaches its
    /// watermark.
    struct RingPlace {
        int cpu = -1;
        int fd = -1;
    };
    std::vector<RingPlace> ring_places() const;
    /// Copies of the records in the rings that are overwritten: one element for each CPU, its oldest record first.
    /// While a ring is copied it is paused: the kernel drops new records, and lost() counts them.
    std::vector<std::vector<std::byte>> take_overwritten();
    std::size_t ring_bytes() const { return request_.ring_bytes; }
    /// What was changed to open the events, for people.
    std::span<const std::string> notes() const { return notes_; }

    /// Start and stop all events except those that only track.
    void enable();
    void disable();
    /// Starts or stops the events of one name. False: no event has the name.
    bool switch_events(const std::string& name, bool on);
    /// The samples that the kernel dropped, by its own counts. 0 before Linux 6.0, which has no such counts.
    std::uint64_t lost();

  private:
    /// One event at one place.
    struct Opened {
        std::size_t event = 0;  // index of OpenRequest::events
        int fd = -1;
        int cpu = -1;
        std::uint64_t id = 0;  // PERF_FORMAT_ID; 0: it could not be read
    };
    /// A ring. Events that overwrite write it backwards, so they cannot share it with others.
    struct Mapped {
        int cpu = -1;
        bool backward = false;
        int fd = -1;
        std::span<std::byte> memory;
        std::optional<BackwardRing> overwritten;  ///< if `backward`
    };
    /// `again`: the request was changed, so everything must be opened anew. `vanished`: the task of the place has
    /// ended.
    enum class Progress : std::uint8_t { done, again, vanished };

    OpenSet(RingSource& source, OpenRequest request) : source_(&source), request_(std::move(request)) {}
    void close_all();
    void close_last();
    Result<Progress> open_all();
    Result<Progress> open_place(const counting::Place& place);
    Result<Progress> react(std::size_t event, const counting::Place& place, int errno_value);
    bool leave_out_new_parts();
    bool restrict_to_user_mode();
    bool fit_stacks();
    bool fit_watermarks();
    Result<void> set_filter(const Opened& opened);
    Result<Progress> attach_ring(const Opened& opened);
    Result<Progress> map_ring(const Opened& opened);
    void learn_ids();
    void control(std::uint32_t request, const std::string* name = nullptr);

    RingSource* source_;
    OpenRequest request_;
    std::vector<Opened> opened_;
    std::vector<Mapped> mapped_;
    std::vector<Ring> rings_;
    std::vector<std::string> notes_;
};

}  // namespace anyperf::recording
