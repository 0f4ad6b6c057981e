// counter.h: one event counted in one place, the simplest way to count. For several events see group.h and
// counter_set.h.
#pragma once

#include <memory>
#include <string_view>

#include "anyperf/group.h"

namespace anyperf::counting {

/// An open event; its destructor closes it. Move-only. It may be used by one thread at a time.
///
///     auto faults = Counter::open("page-faults:u");
///     if (!faults) return report(faults.error());
///     faults->enable();
///     work();
///     const auto count = faults->read();    // Result<Count>
class Counter {
  public:
    /// Opens the event with this name ("cycles:u", docs/events.md), in the calling thread unless `place` says
    /// otherwise. It does not count before enable() unless `options.start` says otherwise. `kernel` must outlive the
    /// counter. Error: the name is unknown or means several events on this machine (CounterSet opens those), or the
    /// kernel refused the event; then the cause that was found is in the Error.
    static Result<Counter> open(std::string_view event, Place place = {}, OpenOptions options = {},
                                Kernel& kernel = system_kernel());

    /// The same for an event that was already parsed.
    static Result<Counter> open(const events::Event& event, Place place = {}, OpenOptions options = {},
                                Kernel& kernel = system_kernel());

    /// Lets read() use rdpmc, without a system call, where processor and kernel allow it. From then on only the thread
    /// that is counted may call read(). False if the event's page can't be mapped, or if the counter includes children
    /// (OpenOptions::inherit), whose counts are not in the page; read() works anyway.
    bool map_page();

    /// The count so far. Allocates no memory if it succeeds.
    Result<Count> read();

    /// Start and stop counting. The count stays.
    Result<void> enable() { return group_.enable(); }
    Result<void> disable() { return group_.disable(); }
    /// Sets the count to 0. The enabled and running times are not reset.
    Result<void> reset() { return group_.reset(); }

    /// The event's descriptor, for calls that this class doesn't offer. The counter keeps it; don't close it.
    int fd() const { return group_.fd(0); }

  private:
    struct Unmap {
        Kernel* kernel = nullptr;
        void operator()(const void* page) const { kernel->unmap_page(page); }
    };

    Counter(Group group, bool inherits, Kernel& kernel)
        : group_(std::move(group)), inherits_(inherits), page_(nullptr, Unmap{&kernel}) {}

    Group group_;
    bool inherits_;
    std::unique_ptr<const void, Unmap> page_;
};

}  // namespace anyperf::counting
