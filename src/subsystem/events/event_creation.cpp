// event_creation.cpp: perf_event_alloc() and __free_event() of the kernel (kernel/events/core.c), without contexts.
//
// Until commit() nothing but the PendingEvent refers to the event. After a refusal its destructor therefore undoes all:
// first the PMU's part, then the page. commit() assigns the ids, so an open that fails consumes none.
#include "subsystem/events/event_creation.h"

#include "abi/attr_flags.h"
#include "subsystem/events/group_lock.h"
#include "subsystem/shared/overflow.h"
#include "try.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kFreq = abi::flag("freq");
constexpr auto kPreciseIp = abi::flag("precise_ip");

}  // namespace

EventShape shape_of(const abi::Attr& attr) {
    EventShape shape;
    shape.type = attr.type;
    shape.bp_type = attr.bp_type;
    shape.config = attr.config;
    shape.sample_type = attr.sample_type;
    shape.read_format = attr.read_format;
    shape.flags = attr.flags;
    shape.branch_sample_type = attr.branch_sample_type;
    shape.sample_regs_user = attr.sample_regs_user;
    shape.sample_regs_intr = attr.sample_regs_intr;
    shape.sample_stack_user = attr.sample_stack_user;
    shape.clockid = attr.clockid;
    shape.sample_max_stack = attr.sample_max_stack;
    // precise_ip is a field of two bits. The division by its lowest bit makes it a number from 0 to 3.
    shape.precise_ip = static_cast<std::uint16_t>((attr.flags & kPreciseIp) / (kPreciseIp & -kPreciseIp));
    shape.wakeup = attr.wakeup_events;
    shape.bp_addr = attr.config1;
    shape.bp_len = attr.config2;
    shape.sig_data = attr.sig_data;
    return shape;
}

namespace {

/// As in perf_event_alloc(): with a frequency, the first period is 1 and adapts from there.
void start_sampling(EventPage& page, const abi::Attr& attr) {
    page.sampling = attr.sample_period != 0;
    const bool adapts = (attr.flags & kFreq) != 0 && attr.sample_period != 0;
    page.frequency = adapts ? attr.sample_period : 0;
    page.period = adapts ? 1 : attr.sample_period;
    page.period_left = first_period(page);
}

/// Fills the event's page, which an earlier event may have used. It is complete before the measured thread can read it:
/// attach() (scheduler.h) adds the event to the list through which the thread finds the page only later.
void fill_page(Event& event) {
    EventPage& page = *event.page;
    page.shape = shape_of(event.attr);
    page.source = event.wiring.source;
    page.cpu = event.cpu;
    page.thread_page = event.task ? event.task->id.thread_page : ~0u;
    page.has_children = event.cpu_wide;
    start_sampling(page, event.attr);
}

/// Asks the PMUs in turn; the first that does not answer ENOENT decides.
Answer<> init_on_pmu(World& world, Event& event, const EventSpec& spec) {
    const EventRequest request{.attr = spec.attr,
                               .event = event.index,
                               .task = spec.task ? &spec.task->id : nullptr,
                               .opener = spec.opener,
                               .rights = spec.rights,
                               .inherited = spec.kind != Kind::opened,
                               .cpu_wide_part = spec.kind == Kind::cpu_wide_part,
                               .cpu = spec.cpu,
                               .parent = spec.parent,
                               .file = spec.file};
    for (Pmu* pmu : world.pmus) {
        auto wiring = pmu->init(request);
        if (!wiring && wiring.error().error == ENOENT) continue;
        if (!wiring) return std::unexpected(wiring.error());
        event.wiring = *wiring;
        event.pmu = pmu;
        return {};
    }
    return refuse(ENOENT, "no PMU has an event of this type and config");
}

/// Counts the event in (`by` is 1) or out (-1) of the kinds of records that it wants. The host need not report a kind
/// that no event wants.
void count_requested_records(World& world, const Event& event, int by) {
    const auto add = [by](std::size_t& to) { to += static_cast<std::size_t>(by); };
    for (const InterestRow& row : kInterests)
        if (requests_record(event.attr.flags, row.interest)) {
            const auto number = static_cast<std::size_t>(row.interest);
            add(world.record_requests[number]);
            // wanted_records has a bit for each kind whose count in record_requests is not 0.
            const std::uint32_t bit = 1u << number;
            world.wanted_records =
                world.record_requests[number] != 0 ? world.wanted_records | bit : world.wanted_records & ~bit;
        }
    if (enables_mapping_records(event.attr.flags)) add(world.mapping_events);
    if (event.cgroup) add(world.cgroup_events);
    if (event.wiring.source.kind == Source::Kind::context_switches) add(world.switch_events);
}

/// For a PMU that samples by a fixed period even where a frequency was asked for. perf_swevent_init_hrtimer() turns the
/// frequency of a clock event into a period, too.
void fix_frequency(Event& event) {
    if ((event.attr.flags & kFreq) == 0 || event.wiring.fixed_period == 0) return;
    event.attr.flags &= ~kFreq;
    event.attr.sample_period = event.wiring.fixed_period;
}

}  // namespace

PendingEvent::~PendingEvent() {
    if (!event_) return;
    if (event_->pmu) event_->pmu->destroy(event_->index);
    if (event_->index != 0) world_->host.free_event_page(event_->index);
}

Event& PendingEvent::commit() {
    Event& event = *event_;
    event.page->stream_id = ++world_->last_id;
    // An inherited event reports its parent's id and has a stream id of its own (perf_event_open(2),
    // PERF_SAMPLE_STREAM_ID).
    event.page->id = event.parent ? event.parent->page->id : event.page->stream_id;
    world_->events.emplace(event.index, std::move(event_));
    count_requested_records(*world_, event, 1);
    return event;
}

Answer<PendingEvent> create_event(World& world, const EventSpec& spec) {
    PendingEvent made(world, std::make_unique<Event>());
    made->attr = spec.attr;
    made->kind = spec.kind;
    made->task = spec.task;
    made->cpu_wide = spec.kind == Kind::opened && !spec.task;
    made->cpu = spec.cpu;
    made->leader = &*made;
    made->index = world.host.new_event_page(spec.task ? &spec.task->id : nullptr);
    if (made->index == 0) return refuse(ENOMEM, "no room for another event");
    made->page = &world.host.event_page(made->index);
    TRY(init_on_pmu(world, *made, spec));
    fix_frequency(*made);
    fill_page(*made);
    return made;
}

// The page is marked dead before it is freed: the measured thread may be reading it at this moment, and then finds a
// state in which nothing counts.
void destroy_event(World& world, Event& event) {
    if (event.pmu) event.pmu->destroy(event.index);
    unlock_group(world, event);
    count_requested_records(world, event, -1);
    {
        LockedPage page(world, event);
        page->state = EventState::dead;
        page->next_active = 0;
    }
    if (event.kind == Kind::opened && event.filter != 0) world.host.free_filter(event.filter);
    world.host.free_event_page(event.index);
    world.events.erase(event.index);
}

}  // namespace anyperf::subsystem
