#include "anyperf/counter.h"

#include <string>

#include "counting/user_page.h"
#include "try.h"

namespace anyperf::counting {

Result<Counter> Counter::open(std::string_view event, Place place, OpenOptions options, Kernel& kernel) {
    const auto groups = TRY(events::parse(events::Machine::read(), event, events::CatalogScope::this_machine));
    if (groups.size() != 1 || groups.front().events.size() != 1)
        return std::unexpected(Error{"cannot open \"" + std::string{event} + "\" as one counter",
                                     "it means several events on this machine",
                                     "open them with CounterSet, or name one of them"});
    return open(groups.front().events.front(), place, options, kernel);
}

Result<Counter> Counter::open(const events::Event& event, Place place, OpenOptions options, Kernel& kernel) {
    events::EventGroup alone;
    alone.events.push_back(event);
    return Counter {
        TRY(Group::open(alone, place, options, kernel))
        , options.inherit, kernel
    };
}

// With cpu >= 0 the kernel maps the page of an event that is inherited, but only read(2) adds the children's counts
// (perf_event_count() with child_count).
bool Counter::map_page() {
    if (inherits_) return false;
    if (!page_) page_.reset(page_.get_deleter().kernel->map_page(fd()));
    return page_ != nullptr;
}

Result<Count> Counter::read() {
    // The page serves only events that are on a hardware counter at this moment; otherwise the kernel is asked.
    static const Instructions instructions = processor_instructions();
    if (page_)
        if (const auto count = read_user_page(*static_cast<const abi::MmapPage*>(page_.get()), instructions))
            return *count;
    Count count;
    if (auto done = group_.read({&count, 1}); !done) return std::unexpected(std::move(done).error());
    return count;
}

}  // namespace anyperf::counting
