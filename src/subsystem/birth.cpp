#include "subsystem/birth.h"

#include "abi/attr_flags.h"
#include "subsystem/group_hold.h"
#include "subsystem/shared/overflow.h"

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
    shape.precise_ip = static_cast<std::uint16_t>((attr.flags & kPreciseIp) / (kPreciseIp & -kPreciseIp));
    shape.wakeup = attr.wakeup_events;
    shape.bp_addr = attr.config1;
    shape.bp_len = attr.config2;
    shape.sig_data = attr.sig_data;
    return shape;
}

namespace {

/// perf_event_alloc: a frequency starts with a period of 1.
void start_sampling(EventPage& page, const abi::Attr& attr) {
    page.sampling = attr.sample_period != 0;
    const bool adapts = (attr.flags & kFreq) != 0 && attr.sample_period != 0;
    page.frequency = adapts ? attr.sample_period : 0;
    page.period = adapts ? 1 : attr.sample_period;
    page.period_left = first_period(page);
}

void fill_page(Event& event) {
    EventPage& page = *event.page;
    page.shape = shape_of(event.attr);
    page.source = event.wiring.source;
    page.cpu = event.cpu;
    page.thread_page = event.task ? event.task->name.thread_page : ~0u;
    page.has_children = event.cpu_wide;
    start_sampling(page, event.attr);
}

/// The PMUs are asked in turn; the first that knows the event decides.
Answer<> wire(World& world, Event& event, const Plan& plan) {
    const EventRequest request{.attr = plan.attr,
                               .event = event.index,
                               .task = plan.task ? &plan.task->name : nullptr,
                               .opener = plan.opener,
                               .privileged = plan.privileged,
                               .inherited = plan.kind != Kind::opened,
                               .of_cpu = plan.kind == Kind::of_cpu,
                               .cpu = plan.cpu,
                               .may_probe = plan.may_probe,
                               .parent = plan.parent,
                               .file = plan.file,
                               .may_trace = plan.may_trace};
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

/// Which records somebody wants, so that the others need not be told.
void count_wishes(World& world, const Event& event, int by) {
    const auto add = [by](std::size_t& to) { to += static_cast<std::size_t>(by); };
    for (const InterestRow& row : kInterests)
        if (wants(event.attr.flags, row.interest)) {
            const auto number = static_cast<std::size_t>(row.interest);
            add(world.wanting[number]);
            const std::uint32_t bit = 1u << number;
            world.wanted = world.wanting[number] != 0 ? world.wanted | bit : world.wanted & ~bit;
        }
    if (any_maps(event.attr.flags)) add(world.mapping_events);
}

void fix_frequency(Event& event) {
    if ((event.attr.flags & kFreq) == 0 || event.wiring.fixed_period == 0) return;
    event.attr.flags &= ~kFreq;
    event.attr.sample_period = event.wiring.fixed_period;
}

}  // namespace

Draft::~Draft() {
    if (!event_) return;
    if (event_->pmu) event_->pmu->destroy(event_->index);
    if (event_->index != 0) world_->host.free_event_page(event_->index);
}

Event& Draft::keep() {
    Event& event = *event_;
    event.page->stream_id = ++world_->last_id;
    event.page->id = event.parent ? event.parent->page->id : event.page->stream_id;
    world_->events.emplace(event.index, std::move(event_));
    count_wishes(*world_, event, 1);
    return event;
}

Answer<Draft> draft(World& world, const Plan& plan) {
    Draft made(world, std::make_unique<Event>());
    made->attr = plan.attr;
    made->kind = plan.kind;
    made->task = plan.task;
    made->cpu_wide = plan.kind == Kind::opened && !plan.task;
    made->cpu = plan.cpu;
    made->leader = &*made;
    made->index = world.host.new_event_page();
    if (made->index == 0) return refuse(ENOMEM, "no room for another event");
    made->page = &world.host.event_page(made->index);
    TRY(wire(world, *made, plan));
    fix_frequency(*made);
    fill_page(*made);
    return made;
}

void bury(World& world, Event& event) {
    if (event.pmu) event.pmu->destroy(event.index);
    let_go(world, event);
    count_wishes(world, event, -1);
    FilterIndex filter = 0;  // children have their parent's
    {
        Locked page(world, event);
        page->state = EventState::dead;
        page->next_armed = 0;
        if (event.kind == Kind::opened) filter = page->filter;
    }
    if (filter != 0) world.host.free_filter(filter);
    world.host.free_event_page(event.index);
    world.events.erase(event.index);
}

}  // namespace anyperf::subsystem
