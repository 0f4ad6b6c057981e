#include "perfdata/event_table.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "abi/event_ids.h"

namespace anyperf::perfdata {

namespace {

// perf's names of the generic events, in the order of their numbers.
constexpr std::array<std::string_view, 10> kHardwareNames{
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
constexpr std::array<std::string_view, 12> kSoftwareNames{
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};

}  // namespace

std::string default_name(const abi::Attr& attr) {
    if (attr.type == abi::kTypeHardware && attr.config < kHardwareNames.size())
        return std::string{kHardwareNames[attr.config]};
    if (attr.type == abi::kTypeSoftware && attr.config < kSoftwareNames.size())
        return std::string{kSoftwareNames[attr.config]};
    return fmt::format("type {} config {:#x}", attr.type, attr.config);
}

void EventTable::add(EventInfo event) {
    const auto which = static_cast<std::uint32_t>(events_.size());
    if (event.name.empty()) event.name = default_name(event.attr);
    layouts_.emplace_back(event.attr);
    events_.push_back(std::move(event));
    learn_ids(which);
}

// An id that two events declare belongs to the later one. last_id_ is cleared, because it may be one of these ids.
void EventTable::learn_ids(std::uint32_t event) {
    for (const std::uint64_t id : events_[event].ids) by_id_.insert_or_assign(id, event);
    with_ids_ = !by_id_.empty();
    last_id_ = 0;
}

// An event that has no ids yet takes them from EVENT_DESC as well.
void EventTable::name(const std::vector<EventInfo>& described) {
    for (std::uint32_t i = 0; i < described.size() && i < events_.size(); ++i) {
        if (!described[i].name.empty()) events_[i].name = described[i].name;
        if (!events_[i].ids.empty()) continue;
        events_[i].ids = described[i].ids;
        learn_ids(i);
    }
}

void EventTable::name_unnamed(std::size_t event, std::string_view name) {
    if (!name.empty() && events_[event].name == default_name(events_[event].attr)) events_[event].name = name;
}

void EventTable::add_id(std::size_t event, std::uint64_t id) {
    if (event >= events_.size()) return;
    events_[event].ids.push_back(id);
    by_id_.insert_or_assign(id, static_cast<std::uint32_t>(event));
    with_ids_ = true;
    last_id_ = 0;
}

void EventTable::update(std::uint64_t id, bool is_name, std::string text) {
    const auto event = of_id(id);
    if (!event) return;
    (is_name ? events_[*event].name : events_[*event].unit) = std::move(text);
}

std::optional<std::uint32_t> EventTable::of_id(std::uint64_t id) const {
    if (id != 0 && id == last_id_) return last_event_;
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return {};
    last_id_ = id;
    return last_event_ = found->second;
}

// The cheapest test comes first: most recordings have one event.
std::optional<std::uint32_t> EventTable::find(Bytes record, bool is_sample, bool foreign) const {
    if (events_.size() == 1 || !with_ids_) return 0;
    const SampleLayout& first = layouts_.front();
    if (!first.has_id()) return 0;
    std::uint64_t id = is_sample ? first.sample_id(record) : first.trailer_id(record);
    if (foreign) id = reversed(id);
    return of_id(id);
}

}  // namespace anyperf::perfdata
