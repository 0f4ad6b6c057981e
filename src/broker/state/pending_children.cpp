// pending_children.cpp: the numbers of pending children.
#include "broker/state/pending_children.h"

namespace anyperf::broker {

std::uint32_t PendingChildren::add(const PendingChild& child) {
    children_[next_number_] = child;
    return next_number_++;
}

std::optional<PendingChild> PendingChildren::take(std::uint32_t number, const subsystem::TaskId& parent) {
    const auto entry = children_.find(number);
    if (entry == children_.end() || entry->second.parent != parent) return std::nullopt;
    return children_.extract(entry).mapped();
}

std::optional<PendingChild> PendingChildren::take_on_page(std::uint32_t number, std::uint32_t page) {
    const auto entry = children_.find(number);
    if (entry == children_.end() || entry->second.page != page) return std::nullopt;
    return children_.extract(entry).mapped();
}

}  // namespace anyperf::broker
