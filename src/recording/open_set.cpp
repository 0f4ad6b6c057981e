#include "recording/open_set.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/ioctls.h"
#include "abi/sample_bits.h"
#include "events/syntax/modifiers.h"
#include "host/ring_failure.h"
#include "try.h"

namespace anyperf::recording {

namespace {

using abi::flag;
using abi::read_format;

constexpr unsigned long kCloseOnExec = 1ul << 3;  // PERF_FLAG_FD_CLOEXEC
constexpr std::size_t kPage = 4096;
constexpr std::size_t kLeastRing = 64 << 10;
constexpr std::size_t kLeastStacks = 8;  // copied stacks that a ring must have room for

/// Parts of an attr that older kernels do not have, the newest first.
struct NewPart {
    std::uint64_t flags;
    std::uint64_t read_format;
};
constexpr std::array kNewParts{
    NewPart{0, read_format("PERF_FORMAT_LOST")},      // Linux 6.0
    NewPart{flag("build_id"), 0},                     // 5.12
    NewPart{flag("ksymbol") | flag("bpf_event"), 0},  // 5.1
    NewPart{flag("comm_exec"), 0},                    // 3.16
};

std::uint64_t has(const abi::Attr& attr, const NewPart& part) {
    return (attr.flags & part.flags) | (attr.read_format & part.read_format);
}

}  // namespace

Result<OpenSet> OpenSet::open(RingSource& source, OpenRequest request) {
    OpenSet set{source, std::move(request)};
    Progress progress = Progress::again;
    while (progress == Progress::again) {
        set.close_all();
        progress = TRY(set.open_all());
        if (progress != Progress::done) continue;
        const bool stacks_changed = set.fit_stacks();
        if (set.fit_watermarks() || stacks_changed) progress = Progress::again;
    }
    if (progress == Progress::vanished)
        return std::unexpected(
            set.request_.explain(set.request_.events.front().event, set.request_.places.front(), ESRCH));
    for (Mapped& mapped : set.mapped_)
        mapped.backward ? void(mapped.overwritten.emplace(mapped.memory))
                        : void(set.rings_.emplace_back(mapped.memory, source.writer()));
    set.learn_ids();
    return set;
}

OpenSet::OpenSet(OpenSet&& other) noexcept
    : source_(other.source_),
      request_(std::move(other.request_)),
      opened_(std::exchange(other.opened_, {})),
      mapped_(std::exchange(other.mapped_, {})),
      rings_(std::move(other.rings_)),
      notes_(std::move(other.notes_)) {}

OpenSet::~OpenSet() {
    close_all();
}

void OpenSet::close_all() {
    for (const Mapped& mapped : mapped_) source_->unmap(mapped.fd, mapped.memory);
    for (const Opened& opened : opened_) source_->kernel().close(opened.fd);
    mapped_.clear();
    opened_.clear();
}

/// Closes the event that was opened last, with the ring that it mapped, if any: the next event of that CPU maps
/// another.
void OpenSet::close_last() {
    const int fd = opened_.back().fd;
    std::erase_if(mapped_, [&](const Mapped& mapped) {
        if (mapped.fd != fd) return false;
        source_->unmap(mapped.fd, mapped.memory);
        return true;
    });
    source_->kernel().close(fd);
    opened_.pop_back();
}

Result<OpenSet::Progress> OpenSet::open_all() {
    Progress progress = Progress::vanished;
    for (const auto& place : request_.places) {
        const Progress one = TRY(open_place(place));
        if (one == Progress::again) return one;
        if (one == Progress::done) progress = one;
    }
    return progress;
}

Result<OpenSet::Progress> OpenSet::open_place(const counting::Place& place) {
    const std::size_t before = opened_.size();
    for (std::size_t i = 0; i < request_.events.size(); ++i) {
        const SampledEvent& sampled = request_.events[i];
        const auto& cpus = sampled.event.cpus;
        if (!cpus.empty() && std::ranges::find(cpus, place.cpu) == cpus.end()) continue;
        const auto leads = std::find_if(opened_.begin() + static_cast<std::ptrdiff_t>(before), opened_.end(),
                                        [&](const Opened& opened) { return opened.event == sampled.leader; });
        const int leader = leads == opened_.end() ? -1 : leads->fd;
        const unsigned long flags = kCloseOnExec | (place.cgroup ? kPidCgroup : 0);
        const int fd = source_->kernel().open(events::attr_to_open(sampled.event), place.pid, place.cpu, leader, flags);
        if (fd < 0) {
            const Progress progress = TRY(react(i, place, -fd));
            if (progress != Progress::vanished) return progress;
            while (opened_.size() > before) close_last();  // the task ended after some of its events were opened
            return progress;
        }
        opened_.push_back({i, fd, place.cpu, 0});
        TRY(set_filter(opened_.back()));
        if (TRY(attach_ring(opened_.back())) == Progress::again) return Progress::again;
    }
    return Progress::done;
}

/// Reacts to a refused open: changes the request so that all is opened anew, reports that the task has ended, or gives
/// up with the error.
Result<OpenSet::Progress> OpenSet::react(std::size_t event, const counting::Place& place, int errno_value) {
    constexpr std::uint64_t kOnePrecise = flag("precise_ip") & ~(flag("precise_ip") << 1);
    events::Event& refused = request_.events[event].event;
    if (errno_value == ESRCH && place.pid > 0 && !place.cgroup) return Progress::vanished;
    const bool invalid = errno_value == EINVAL || errno_value == EOPNOTSUPP;
    if (invalid && refused.precise_max && (refused.attr.flags & flag("precise_ip")) != 0) {
        refused.attr.flags -= kOnePrecise;
        return Progress::again;
    }
    Error error = request_.explain(refused, place, errno_value);
    if ((errno_value == EACCES || errno_value == EPERM) && restrict_to_user_mode()) return Progress::again;
    if (errno_value == EINVAL && leave_out_new_parts()) return Progress::again;
    return std::unexpected(std::move(error));
}

/// Removes the newest of kNewParts that any event still has from all events. False: no event has any of them.
bool OpenSet::leave_out_new_parts() {
    for (const NewPart& part : kNewParts) {
        bool left_out = false;
        for (auto& sampled : request_.events) {
            abi::Attr& attr = sampled.event.attr;
            left_out = left_out || has(attr, part) != 0;
            attr.flags &= ~part.flags;
            attr.read_format &= ~part.read_format;
        }
        if (left_out) return true;
    }
    return false;
}

/// Excludes kernel mode from all events but tracepoints, as perf does where kernel.perf_event_paranoid hides the
/// kernel. An event of kernel mode alone (cycles:k) stays as it is: without that mode it would count nothing. False:
/// there is no event left to change.
bool OpenSet::restrict_to_user_mode() {
    bool changed = false;
    for (auto& sampled : request_.events) {
        abi::Attr& attr = sampled.event.attr;
        const std::uint64_t without = flag("exclude_kernel") | flag("exclude_hv");
        const bool tracepoint = attr.type == abi::kTypeTracepoint;
        if (tracepoint || (attr.flags & (flag("exclude_kernel") | flag("exclude_user"))) != 0) continue;
        attr.flags = (attr.flags & ~(flag("ksymbol") | flag("bpf_event"))) | without;
        sampled.event.name = events::user_mode_name(sampled.event);
        changed = true;
    }
    if (changed) notes_.emplace_back("user mode only: kernel mode needs privileges (kernel.perf_event_paranoid)");
    return changed;
}

/// Limits copied stacks so that a ring holds at least kLeastStacks of them. A small ring would be full after one or two
/// of the largest, and lose the next ones. False: the rings are large enough.
bool OpenSet::fit_stacks() {
    if (!request_.stacks_may_shrink) return false;
    const auto most = static_cast<std::uint32_t>(request_.ring_bytes / kLeastStacks);
    bool changed = false;
    for (auto& sampled : request_.events) {
        if (sampled.event.attr.sample_stack_user <= most) continue;
        sampled.event.attr.sample_stack_user = most;
        changed = true;
    }
    if (changed)
        notes_.push_back(
            fmt::format("only {} bytes of each stack are copied, because the rings are small (see -m)", most));
    return changed;
}

/// Lowers the watermarks of rings that have shrunk. At a watermark as large as the ring the reader would wake up when
/// the ring is full, and records would be lost. False: the watermarks are low enough.
bool OpenSet::fit_watermarks() {
    if (request_.watermark_share == 0) return false;
    const auto most = static_cast<std::uint32_t>(request_.ring_bytes / request_.watermark_share);
    bool changed = false;
    for (auto& sampled : request_.events) {
        abi::Attr& attr = sampled.event.attr;
        if ((attr.flags & flag("watermark")) == 0 || attr.wakeup_events <= most) continue;
        attr.wakeup_events = most;
        changed = true;
    }
    return changed;
}

Result<void> OpenSet::set_filter(const Opened& opened) {
    const SampledEvent& sampled = request_.events[opened.event];
    if (sampled.filter.empty()) return {};
    constexpr auto kSetFilter = abi::ioctl_request("PERF_EVENT_IOC_SET_FILTER");
    const auto text = reinterpret_cast<std::uintptr_t>(sampled.filter.c_str());
    const int done = source_->kernel().ioctl(opened.fd, kSetFilter, text);
    if (done == 0) return {};
    return std::unexpected(
        request_.refused_filter(sampled.event, sampled.filter, std::generic_category().message(-done)));
}

/// The first event of a CPU maps the ring, and the others send their records to it. The kernel may refuse that, for
/// example for events with different clocks: perf_event_set_output() has the list.
Result<OpenSet::Progress> OpenSet::attach_ring(const Opened& opened) {
    const bool backward = (request_.events[opened.event].event.attr.flags & flag("write_backward")) != 0;
    const auto ring = std::ranges::find_if(
        mapped_, [&](const Mapped& mapped) { return mapped.cpu == opened.cpu && mapped.backward == backward; });
    if (ring == mapped_.end()) return map_ring(opened);
    constexpr auto kSetOutput = abi::ioctl_request("PERF_EVENT_IOC_SET_OUTPUT");
    const int done = source_->kernel().ioctl(opened.fd, kSetOutput, static_cast<unsigned long>(ring->fd));
    if (done == 0) return Progress::done;
    return std::unexpected(
        Error{"cannot record " + request_.events[opened.event].event.name,
              fmt::format("it cannot share the ring of CPU {} with the other events (errno {})", opened.cpu, -done),
              "record it without other events"});
}

/// Maps the ring of the event. If that much memory may not be locked and the user did not choose the size, all rings
/// get half of it, down to kLeastRing: were only this one smaller, the CPU that comes last would lose most.
Result<OpenSet::Progress> OpenSet::map_ring(const Opened& opened) {
    const bool backward = (request_.events[opened.event].event.attr.flags & flag("write_backward")) != 0;
    const std::size_t bytes = kPage + request_.ring_bytes;
    const auto memory = source_->map(opened.fd, bytes, backward);
    if (memory) {
        mapped_.push_back({opened.cpu, backward, opened.fd, *memory, {}});
        return Progress::done;
    }
    const bool too_large = memory.error() == -EPERM || memory.error() == -ENOMEM;
    if (!too_large || request_.ring_bytes_are_wanted || request_.ring_bytes <= kLeastRing)
        return std::unexpected(host::why_ring_failed(bytes, -memory.error()));
    request_.ring_bytes /= 2;
    return Progress::again;
}

/// How many words a read returns besides {value, id, lost}, or before the first of these in a group: the number of
/// members, and times. The value of a single event comes before its times, which moves nothing after it.
std::size_t words_before_values(std::uint64_t format) {
    constexpr std::uint64_t kWords = read_format("PERF_FORMAT_GROUP") | read_format("PERF_FORMAT_TOTAL_TIME_ENABLED") |
                                     read_format("PERF_FORMAT_TOTAL_TIME_RUNNING");
    return static_cast<std::size_t>(std::popcount(format & kWords));
}

/// Reads the ids by which records name their events. With PERF_FORMAT_GROUP a read of the leader returns the ids of all
/// members, in the order in which they were opened.
void OpenSet::learn_ids() {
    for (std::size_t i = 0; i < opened_.size(); ++i) {
        const abi::Attr& attr = request_.events[opened_[i].event].event.attr;
        const bool group = (attr.read_format & read_format("PERF_FORMAT_GROUP")) != 0;
        const bool lost = (attr.read_format & read_format("PERF_FORMAT_LOST")) != 0;
        if (group && request_.events[opened_[i].event].leader != opened_[i].event) continue;  // read with its leader
        std::array<std::uint64_t, 512> words{};
        const ssize_t got = source_->kernel().read(opened_[i].fd, words.data(), sizeof words);
        if (got <= 0) continue;
        const std::size_t step = lost ? 3 : 2;  // value, id, lost
        const std::size_t first = words_before_values(attr.read_format);
        const std::size_t members = group ? words[0] : 1;
        for (std::size_t m = 0; m < members && i + m < opened_.size(); ++m)
            opened_[i + m].id = words.at(first + m * step + 1);
    }
}

std::vector<std::vector<std::byte>> OpenSet::take_overwritten() {
    constexpr auto kPause = abi::ioctl_request("PERF_EVENT_IOC_PAUSE_OUTPUT");
    std::vector<std::vector<std::byte>> taken;
    for (Mapped& mapped : mapped_) {
        if (!mapped.overwritten) continue;
        source_->kernel().ioctl(mapped.fd, kPause, 1);
        taken.push_back(mapped.overwritten->take());
        source_->kernel().ioctl(mapped.fd, kPause, 0);
    }
    return taken;
}

std::vector<OpenSet::RingPlace> OpenSet::ring_places() const {
    std::vector<RingPlace> places;
    for (const Mapped& mapped : mapped_)
        if (!mapped.backward) places.push_back({mapped.cpu, mapped.fd});
    return places;
}

std::vector<perfdata::EventInfo> OpenSet::infos() const {
    std::vector<perfdata::EventInfo> infos;
    infos.reserve(request_.events.size());
    for (const auto& sampled : request_.events)
        infos.push_back({.attr = sampled.event.attr, .ids = {}, .name = sampled.event.name, .unit = {}});
    for (const Opened& opened : opened_)
        if (opened.id != 0) infos[opened.event].ids.push_back(opened.id);
    return infos;
}

/// Makes the ioctl on each leader, or if `name` is given on the events of that name. The members of a group count only
/// while their leader does. The event that only tracks is always on, and skipped.
void OpenSet::control(std::uint32_t request, const std::string* name) {
    for (const Opened& opened : opened_) {
        const SampledEvent& sampled = request_.events[opened.event];
        const bool is_tracking_only = sampled.tracks && sampled.event.name == "dummy:u";
        const bool meant = name ? sampled.event.name == *name : sampled.leader == opened.event;
        if (meant && !is_tracking_only) source_->kernel().ioctl(opened.fd, request, 0);
    }
}

void OpenSet::enable() {
    control(abi::ioctl_request("PERF_EVENT_IOC_ENABLE"));
}

void OpenSet::disable() {
    control(abi::ioctl_request("PERF_EVENT_IOC_DISABLE"));
}

bool OpenSet::switch_events(const std::string& name, bool on) {
    control(on ? abi::ioctl_request("PERF_EVENT_IOC_ENABLE") : abi::ioctl_request("PERF_EVENT_IOC_DISABLE"), &name);
    return std::ranges::any_of(request_.events, [&](const SampledEvent& each) { return each.event.name == name; });
}

// The read of a leader with PERF_FORMAT_GROUP returns the number of each member.
std::uint64_t OpenSet::lost() {
    std::uint64_t sum = 0;
    for (const Opened& opened : opened_) {
        const std::uint64_t format = request_.events[opened.event].event.attr.read_format;
        if ((format & read_format("PERF_FORMAT_LOST")) == 0) continue;
        const bool group = (format & read_format("PERF_FORMAT_GROUP")) != 0;
        if (group && request_.events[opened.event].leader != opened.event) continue;  // read with its leader
        std::array<std::uint64_t, 512> words{};
        const ssize_t got = source_->kernel().read(opened.fd, words.data(), sizeof words);
        if (got <= 0) continue;
        const std::size_t first = words_before_values(format);
        const std::size_t members = group ? words[0] : 1;
        for (std::size_t m = 0; m < members && static_cast<std::size_t>(got) >= (first + (m + 1) * 3) * sizeof words[0];
             ++m)
            sum += words.at(first + m * 3 + 2);  // value, id, lost
    }
    return sum;
}

}  // namespace anyperf::recording
