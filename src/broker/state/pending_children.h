// pending_children.h: children that their parents are about to make. A child is registered with the subsystem once, by
// whichever comes first: the parent's report, the child's own, or an open that finds the id in the child's page
// (requests/tasks.h). Each takes the child from here.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "broker/tasks/run_threads.h"
#include "subsystem/requests.h"

namespace anyperf::broker {

struct PendingChild {
    subsystem::TaskId parent;
    subsystem::ForkKind kind = subsystem::ForkKind::process;
    std::uint32_t page = 0;  ///< the child's thread page; its `tid` is 0 until the kernel has written it
};

class PendingChildren {
  public:
    /// Returns the number under which the child is reported; never 0.
    std::uint32_t add(const PendingChild& child);
    /// Removes the child and returns it; nothing if the number is unknown or has been taken, or if it is not a child of
    /// this parent's.
    std::optional<PendingChild> take(std::uint32_t number, const subsystem::TaskId& parent);
    /// The same by the child itself, which must have the page that was announced.
    std::optional<PendingChild> take_on_page(std::uint32_t number, std::uint32_t page);

    /// Takes the children whose ids the kernel has written to their pages, and calls `function` with each PendingChild
    /// and its TaskId. `function` must not change this object.
    template <class Function>
    void take_started(RunThreads& threads, const Function& function) {
        for (auto at = children_.begin(); at != children_.end();) {
            const PendingChild child = at->second;
            const auto started = threads.find(child.page);
            at = started ? children_.erase(at) : std::next(at);
            if (started) function(child, *started);
        }
    }

  private:
    std::map<std::uint32_t, PendingChild> children_;
    std::uint32_t next_number_ = 1;
};

}  // namespace anyperf::broker
