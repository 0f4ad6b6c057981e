// counter.h: one event in one place.
#pragma once

#include <memory>
#include <string_view>

#include "anyperf/group.h"

namespace anyperf::counting {

/// An open event. Move-only. One thread at a time.
///
///     auto faults = Counter::open("page-faults:u");
///     if (!faults) return report(faults.error());
///     faults->enable();
///     work();
///     const auto count = faults->read();    // Result<Count>
class Counter {
  public:
    /// Opens what `event` names on this machine, disabled unless `options` says otherwise. Error: the name is unknown
    /// or stands for several events, or the kernel refused the event, with the cause that was found.
    static Result<Counter> open(std::string_view event, Place place = {}, OpenOptions options = {},
                                Kernel& kernel = system_kernel());

    static Result<Counter> open(const events::Event& event, Place place = {}, OpenOptions options = {},
                                Kernel& kernel = system_kernel());

    /// Lets read() go without a system call where processor and kernel allow that (rdpmc). From then on read() must be
    /// called on the thread that is counted. False where the page can't be mapped; read() works all the same.
    bool map_page();

    /// Allocates nothing where it succeeds.
    Result<Count> read();

    Result<void> enable() { return group_.enable(); }
    Result<void> disable() { return group_.disable(); }
    /// The count becomes 0; the times go on.
    Result<void> reset() { return group_.reset(); }

    /// The descriptor, for what this class doesn't do. Stays the counter's.
    int fd() const { return group_.fd(0); }

  private:
    struct Unmap {
        Kernel* kernel = nullptr;
        void operator()(const void* page) const { kernel->unmap_page(page); }
    };

    explicit Counter(Group group, Kernel& kernel) : group_(std::move(group)), page_(nullptr, Unmap{&kernel}) {}

    Group group_;
    std::unique_ptr<const void, Unmap> page_;
};

}  // namespace anyperf::counting
