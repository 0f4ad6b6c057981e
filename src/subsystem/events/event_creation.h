// event_creation.h: how an event, opened or a child, is created and freed. attach() (scheduler.h) puts it into its task
// and group.
#pragma once

#include <memory>

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// A new event that has a page and that its PMU has accepted. The destructor undoes it unless it was committed, so a
/// check that fails later leaves no trace.
class PendingEvent {
  public:
    PendingEvent(World& world, std::unique_ptr<Event> event) : world_(&world), event_(std::move(event)) {}
    PendingEvent(PendingEvent&& other) noexcept = default;
    PendingEvent& operator=(PendingEvent&&) = delete;
    ~PendingEvent();

    Event* operator->() { return event_.get(); }
    Event& operator*() { return *event_; }
    /// Gives the event its ids and adds it to the world, which owns it from now on.
    Event& commit();

  private:
    World* world_;
    std::unique_ptr<Event> event_;
};

/// What an event is created from; its group is not part of it.
struct EventSpec {
    abi::Attr attr;
    Kind kind = Kind::opened;
    Task* task = nullptr;  ///< null: cpu-wide
    std::int32_t cpu = -1;
    TaskId opener;
    const Rights& rights;  ///< of the opener
    ProbedFile file = {};
    EventIndex parent = 0;
};

/// The part of an attr that an event's page holds.
EventShape shape_of(const abi::Attr& attr);

/// Creates an event whose page is filled and whose state is off. Refusals: ENOMEM if there is no room for a page,
/// ENOENT if no PMU knows type and config, or the PMU's own.
Answer<PendingEvent> create_event(World& world, const EventSpec& spec);

/// Frees the event and its page. It must not be in a task, group or list any more, nor have children.
void destroy_event(World& world, Event& event);

}  // namespace anyperf::subsystem
