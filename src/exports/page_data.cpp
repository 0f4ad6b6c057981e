// page_data.cpp: the profile as the page of `export -f html` reads it. The page is one file that a browser must load
// and unpack, so its size decides how fast it opens. Three measures keep it small: stacks are a trie of functions (not
// of addresses, which the page does not show), times are reduced to kSlots slots, and all numbers are columns of
// varints. Their order puts similar numbers next to each other, which deflate packs well. page/ has the reader of this
// format.
#include "exports/page_data.h"

#include <algorithm>

#include "exports/json_text.h"

namespace anyperf::exports {

namespace {

void append_varint(std::string& bytes, std::uint64_t value) {
    for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 128);
    bytes += static_cast<char>(value);
}

}  // namespace

/// The number of a function by name and dso. Two functions with both in common are one on the page.
std::uint32_t PageData::function(std::string_view name, std::string_view dso) {
    const auto [at, fresh_dso] = dso_numbers_.try_emplace(std::string{dso}, static_cast<std::uint32_t>(dsos_.size()));
    if (fresh_dso) dsos_.emplace_back(dso);
    const std::string key = std::string{name} + '\n' + std::string{dso};
    const auto [place, fresh] = function_numbers_.try_emplace(key, static_cast<std::uint32_t>(functions_.size()));
    if (fresh) functions_.emplace_back(name, at->second);
    return place->second;
}

/// The node of a function below its caller. `caller` and the result are numbers of nodes + 1; caller 0: none.
std::uint32_t PageData::node(std::uint32_t caller, std::uint32_t function) {
    const auto [at, fresh] = node_numbers_.try_emplace(std::uint64_t{caller} << 32 | function,
                                                       static_cast<std::uint32_t>(nodes_.size() + 1));
    if (fresh) nodes_.push_back({caller, function});
    return at->second;
}

/// The command is the outermost frame.
std::uint32_t PageData::node_of(const profile::Profile& profile, const FrameNames& names, profile::StackId stack,
                                std::string_view comm) {
    const auto [known, fresh] = stack_nodes_.try_emplace({stack.value, std::string{comm}});
    if (!fresh) return known->second;
    std::uint32_t at = node(0, function(comm, "command"));
    for (const profile::LocationId location : outermost_first(profile, stack))
        for (const NamedFrame& frame : names.frames(location)) {
            const NamedFunction& named = names.functions()[frame.function];
            at = node(at, function(named.name, profile.text(profile.dsos[named.dso].name)));
        }
    return known->second = at;
}

/// The number of a thread. A thread that changes its name has the last one.
std::uint32_t PageData::thread_of(const profile::Profile& profile, const profile::Context& context, Side side) {
    const auto [at, fresh] =
        thread_numbers_.try_emplace({side, context.pid, context.tid}, static_cast<std::uint32_t>(threads_.size()));
    if (fresh) threads_.push_back({{}, context.tid, profile.events[context.event].name, side});
    threads_[at->second].comm = profile.text(context.comm);
    return at->second;
}

void PageData::add(const profile::Profile& profile, profile::EventId event, Side side) {
    const FrameNames names{profile};
    const profile::Recording& recording = profile.recording;
    const std::uint64_t duration = recording.last_ns - recording.first_ns + 1;
    stack_nodes_.clear();
    for (const profile::Sample& sample : profile.samples) {
        const profile::Context& context = profile.contexts[sample.context];
        if (context.event != event) continue;
        const double part = static_cast<double>(sample.time - recording.first_ns) / static_cast<double>(duration);
        // A sample without a time, or of a broken clock, is in the first or last slot.
        const double slot = std::clamp(part * kSlots, 0.0, static_cast<double>(kSlots - 1));
        const std::uint32_t leaf = node_of(profile, names, sample.stack, profile.text(context.comm)) - 1;
        Weight& row = rows_[{thread_of(profile, context, side), static_cast<std::uint32_t>(slot), leaf}];
        row.count += sample.count;
        row.weight += sample.weight;
    }
}

std::string PageData::head(std::string_view title, const profile::Event& event) const {
    JsonText json;
    json.open('{').member("title", title).member("event", event.name).member("unit", unit_of(event));
    json.member("slots", kSlots).key("facts").open('[');
    for (const auto& [name, value] : facts_) json.open('[').value(name).value(value).close(']');
    json.close(']').key("dsos").open('[');
    for (const std::string& dso : dsos_) json.value(dso);
    json.close(']').key("functions").open('[');
    for (const auto& [name, dso] : functions_) json.open('[').value(name).value(dso).close(']');
    json.close(']').key("threads").open('[');
    for (const Thread& thread : threads_) {
        json.open('{').member("comm", thread.comm).member("tid", static_cast<std::int32_t>(thread.tid));
        json.member("event", thread.event).member("side", static_cast<std::uint32_t>(thread.side)).close('}');
    }
    json.close(']').close('}');
    return json.take();
}

// The rows are in the order of their keys (thread, slot, node), so the column of threads is written as differences,
// most of which are 0.
std::string PageData::bytes(std::string_view title, const profile::Event& event) const {
    const std::string json = head(title, event);
    std::string bytes;
    append_varint(bytes, json.size());
    bytes += json;
    append_varint(bytes, nodes_.size());
    // A caller is near, so its distance is a short number; 0: the node has no caller.
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        append_varint(bytes, nodes_[i].caller == 0 ? 0 : i + 1 - nodes_[i].caller);
    for (const Node& node : nodes_) append_varint(bytes, node.function);
    append_varint(bytes, rows_.size());
    for (const auto& [key, row] : rows_) append_varint(bytes, std::get<2>(key));
    std::uint32_t last = 0;
    for (const auto& [key, row] : rows_) append_varint(bytes, std::get<0>(key) - std::exchange(last, std::get<0>(key)));
    for (const auto& [key, row] : rows_) append_varint(bytes, std::get<1>(key));
    for (const auto& [key, row] : rows_) append_varint(bytes, row.count);
    for (const auto& [key, row] : rows_) append_varint(bytes, row.weight);
    return bytes;
}

}  // namespace anyperf::exports
