// birth.h: how an event comes into the world, opened or as a child, and how it leaves it. Not where: scheduler.h puts
// it into its task and group.
#pragma once

#include <memory>

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// An event that isn't in the world yet: with its PMU's consent and a page. Gone without a trace unless it is kept.
class Draft {
  public:
    Draft(World& world, std::unique_ptr<Event> event) : world_(&world), event_(std::move(event)) {}
    Draft(Draft&& other) noexcept = default;
    Draft& operator=(Draft&&) = delete;
    ~Draft();

    Event* operator->() { return event_.get(); }
    Event& operator*() { return *event_; }
    /// Gives it an id; it lives now.
    Event& keep();

  private:
    World* world_;
    std::unique_ptr<Event> event_;
};

/// What is to come; all but its place in a group.
struct Plan {
    abi::Attr attr;
    Kind kind = Kind::opened;
    Task* task = nullptr;  ///< null: cpu-wide
    std::int32_t cpu = -1;
    TaskName opener;
    bool privileged = false;
    bool may_trace = false;
    bool may_probe = false;
    ProbedFile file = {};
    EventIndex parent = 0;
};

/// What of an attr stands in an event's page.
EventShape shape_of(const abi::Attr& attr);

/// ENOENT where no PMU has such an event; what its PMU says; ENOMEM where there is no room for its page. Its page says
/// what it was opened as; it is off.
Answer<Draft> draft(World& world, const Plan& plan);

/// Frees the event and its page; it is in no task, group or list any more, and has no children.
void bury(World& world, Event& event);

}  // namespace anyperf::subsystem
