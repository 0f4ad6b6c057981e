// tracing_data.cpp: the layout is that of trace-cmd's header of version 0.5 (trace-cmd.dat.v6(5), "INITIAL FORMAT";
// perf: util/trace-event-info.c). Only the formats of recorded tracepoints are written; other lists are empty.
#include "recording/tracing_data.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "abi/event_ids.h"
#include "host/kernel/tracefs.h"
#include "perfdata/writer/byte_writer.h"
#include "try.h"

namespace anyperf::recording {

namespace {

constexpr std::string_view kMagic{"\x17\x08\x44tracing", 10};
constexpr std::string_view kVersion{"0.5\0", 4};
constexpr std::uint32_t kPageBytes = 4096;

void put_text(perfdata::ByteWriter& to, std::string_view text) {
    to.bytes(std::as_bytes(std::span{text}));
}

/// The text of a file with its last newline. Root::read() removes it, but the parser of readers needs it.
Result<std::string> file(const host::Root& root, const std::string& path) {
    return TRY(root.read(path))
    +"\n";
}

void put_sized(perfdata::ByteWriter& to, std::string_view text) {
    to.u64(text.size());
    put_text(to, text);
}

/// A name with its zero byte, and a file.
void put_named(perfdata::ByteWriter& to, std::string_view name, std::string_view text) {
    put_text(to, name);
    to.zeros(1);
    put_sized(to, text);
}

/// The format files of the tracepoints, by system.
using Formats = std::map<std::string, std::map<std::string, std::string>>;

/// The system and the name of a tracepoint. An event is mostly called "system:event", perhaps with modifiers after it;
/// a term name=… gives it any other name, and then its id is searched for.
std::optional<std::pair<std::string, std::string>> tracepoint_of(const host::Tracefs& tracefs,
                                                                 const events::Event& event) {
    const std::string& name = event.name;
    const auto colon = name.find(':');
    if (colon != std::string::npos) {
        const std::pair typed{name.substr(0, colon), name.substr(colon + 1, name.find(':', colon + 1) - colon - 1)};
        if (tracefs.id(typed.first, typed.second) == event.attr.config) return typed;
    }
    return tracefs.name_of(event.attr.config);
}

Result<Formats> formats_of(const host::Root& root, const host::Tracefs& tracefs, std::span<const SampledEvent> events) {
    Formats formats;
    for (const auto& sampled : events) {
        if (sampled.event.attr.type != abi::kTypeTracepoint) continue;
        const auto found = tracepoint_of(tracefs, sampled.event);
        if (!found) continue;
        const auto& [system, event] = *found;
        formats[system][event] = TRY(file(root, tracefs.directory() + "/events/" + system + "/" + event + "/format"));
    }
    return formats;
}

}  // namespace

Result<std::vector<std::byte>> tracing_data(const host::Root& root, std::span<const SampledEvent> events) {
    const auto is_tracepoint = [](const SampledEvent& each) { return each.event.attr.type == abi::kTypeTracepoint; };
    if (std::ranges::none_of(events, is_tracepoint)) return std::vector<std::byte>{};
    const auto tracefs = TRY(host::Tracefs::find(root));
    const std::string& directory = tracefs.directory();
    const Formats formats = TRY(formats_of(root, tracefs, events));
    perfdata::ByteWriter data;
    put_text(data, kMagic);
    put_text(data, kVersion);
    data.put(std::uint8_t{std::endian::native == std::endian::big}).put(std::uint8_t{sizeof(long)}).u32(kPageBytes);
    // The tracefs of a run has no ring buffers, hence no such files. Readers accept empty ones.
    put_named(data, "header_page", file(root, directory + "/events/header_page").value_or(""));
    put_named(data, "header_event", file(root, directory + "/events/header_event").value_or(""));
    data.u32(0);  // formats of ftrace's own events
    data.u32(static_cast<std::uint32_t>(formats.size()));
    for (const auto& [system, own] : formats) {
        put_text(data, system);
        data.zeros(1).u32(static_cast<std::uint32_t>(own.size()));
        for (const auto& [event, text] : own) put_sized(data, text);
    }
    data.u32(0);  // size of kallsyms: readers get symbols in other ways
    data.u32(0);  // formats of trace_printk()
    return data.take();
}

}  // namespace anyperf::recording
