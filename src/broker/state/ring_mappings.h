// ring_mappings.h: the mappings of rings that programs have. A mapping keeps its event alive after the last close.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "subsystem/requests.h"

namespace anyperf::broker {

class RingMappings {
  public:
    /// `process` is the kernel's id of the process that maps.
    void add(subsystem::EventIndex event, std::int32_t process, const subsystem::Mapping& mapping) {
        mappings_.emplace(event, Owned{process, mapping});
    }
    /// Removes one mapping of the event by this process at this place in the memfd, and returns it; nothing if there is
    /// none.
    std::optional<subsystem::Mapping> take(subsystem::EventIndex event, std::int32_t process, std::uint64_t offset,
                                           std::uint64_t bytes);

    /// Calls `function` with each mapping of a process.
    template <class Function>
    void for_each(std::int32_t process, const Function& function) const {
        for (const auto& [event, owned] : mappings_)
            if (owned.process == process) function(owned.mapping);
    }

    /// Removes the mappings of a process, which has none of them any more, and calls `function` with the event and the
    /// mapping of each.
    template <class Function>
    void take_all(std::int32_t process, const Function& function) {
        for (auto at = mappings_.begin(); at != mappings_.end();) {
            if (at->second.process != process) {
                ++at;
                continue;
            }
            const auto [event, owned] = *at;
            at = mappings_.erase(at);
            function(event, owned.mapping);
        }
    }

  private:
    struct Owned {
        std::int32_t process = 0;
        subsystem::Mapping mapping;
    };

    std::multimap<subsystem::EventIndex, Owned> mappings_;
};

}  // namespace anyperf::broker
