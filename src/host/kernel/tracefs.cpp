// tracefs.cpp: the names and numbers of tracepoints. They are files: events/SYSTEM/NAME/id. tracefs is mounted by
// itself at /sys/kernel/tracing, and on older systems only within debugfs at /sys/kernel/debug/tracing; both show the
// same files.
#include "host/kernel/tracefs.h"

#include "abi/event_ids.h"
#include "try.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <ranges>

namespace anyperf::host {

namespace {

constexpr std::array<std::string_view, 2> kPlaces{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
constexpr std::string_view kWhat = "cannot look up tracepoints";

Error unreadable(std::string_view place) {
    return Error{std::string{kWhat}, std::string{place} + " can be read by root only (it is mounted with mode 0700)",
                 "run as root, or once as root: mount -o remount,mode=755 " + std::string{place}};
}

/// Removes a number with the prefix 0x from the start of `text`; nothing if there is none.
template <class Number>
std::optional<Number> take_hex(std::string_view& text) {
    constexpr std::string_view kPrefix = "0x";
    Number value{};
    if (!text.starts_with(kPrefix)) return std::nullopt;
    const char* const digits = text.data() + kPrefix.size();
    const auto [end, error] = std::from_chars(digits, text.data() + text.size(), value, 16);
    if (error != std::errc{} || end == digits) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// The place of a probe in a line of uprobe_events: "PATH:0xOFFSET", and perhaps "(0xCOUNTER)" (trace_uprobe_show() in
/// kernel/trace/trace_uprobe.c, Linux 6.18).
std::optional<UserProbe> parse_place(std::string_view place, bool at_return) {
    const std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    UserProbe probe{.file = std::string{place.substr(0, colon)}, .at_return = at_return};
    place.remove_prefix(colon + 1);
    const auto offset = take_hex<std::uint64_t>(place);
    if (!offset) return std::nullopt;
    probe.offset = *offset;
    if (!place.starts_with('(')) return probe;
    place.remove_prefix(1);
    probe.counter_offset = take_hex<std::uint32_t>(place).value_or(0);
    return probe;
}

Error not_mounted() {
    return Error{std::string{kWhat},
                 "tracefs is mounted neither at /sys/kernel/tracing nor at /sys/kernel/debug/tracing",
                 "as root: mount -t tracefs tracefs /sys/kernel/tracing"};
}

/// A line of uprobe_events.
struct UprobeLine {
    std::string_view place;  ///< "PATH:0xOFFSET", as far as the first blank
    bool at_return = false;
};

/// The line that defines the tracepoint: "p:GROUP/EVENT PATH:0xOFFSET ARGUMENTS…", or with r for a return probe.
std::optional<UprobeLine> uprobe_line(std::string_view text, std::string_view system, std::string_view event) {
    const std::string wanted = fmt::format(":{}/{} ", system, event);
    for (const auto range : std::views::split(text, '\n')) {
        std::string_view line{range.begin(), range.end()};
        if (line.empty() || !line.substr(1).starts_with(wanted)) continue;
        const bool at_return = line.front() == 'r';
        line.remove_prefix(1 + wanted.size());
        return UprobeLine{line.substr(0, line.find(' ')), at_return};
    }
    return std::nullopt;
}

}  // namespace

// access(2) shows whether this process may read the mount, which is often root's alone. If no place can be read, the
// Error names the first that this process may not read.
Result<Tracefs> Tracefs::find(const Root& root) {
    std::string_view forbidden;
    for (const std::string_view place : kPlaces) {
        const std::string events = root.path(std::string{place} + "/events").string();
        if (::access(events.c_str(), R_OK | X_OK) == 0) return Tracefs{root, std::string{place}};
        if (errno == EACCES && forbidden.empty()) forbidden = place;
    }
    return std::unexpected(forbidden.empty() ? not_mounted() : unreadable(forbidden));
}

std::vector<std::string> Tracefs::systems() const {
    std::vector<std::string> names = root_.list(directory_ + "/events");
    std::erase_if(names, [this](const std::string& name) {
        return root_.list(directory_ + "/events/" + name).empty();  // files such as `enable` and `header_page`
    });
    return names;
}

std::vector<std::string> Tracefs::events(std::string_view system) const {
    const std::string folder = directory_ + "/events/" + std::string{system};
    std::vector<std::string> names = root_.list(folder);
    // `enable` and `filter` are files of the system. A tracepoint is a directory with a file `id`. Those of the system
    // ftrace have one too, although the kernel opens only ftrace:function as an event (perf_trace_init()).
    std::erase_if(names, [&](const std::string& name) { return !root_.exists(folder + "/" + name + "/id"); });
    return names;
}

bool Tracefs::has(std::string_view system, std::string_view event) const {
    return root_.exists(directory_ + "/events/" + std::string{system} + "/" + std::string{event} + "/id");
}

Result<std::uint64_t> Tracefs::id(std::string_view system, std::string_view event) const {
    const std::string name = std::string{system} + ":" + std::string{event};
    const std::string text =
        TRY(root_.read(directory_ + "/events/" + std::string{system} + "/" + std::string{event} + "/id"));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::unexpected(
            Error{"cannot use the tracepoint " + name, "its id is '" + text + "', which is not a number", ""});
    return value;
}

std::optional<std::pair<std::string, std::string>> Tracefs::name_of(std::uint64_t id) const {
    for (const auto& system : systems())
        for (const auto& event : events(system))
            if (this->id(system, event) == id) return std::pair{system, event};
    return std::nullopt;
}

std::optional<UserProbe> Tracefs::user_probe(std::string_view system, std::string_view event) const {
    const std::string text = root_.read(directory_ + "/uprobe_events").value_or("");
    const auto line = uprobe_line(text, system, event);
    return line ? parse_place(line->place, line->at_return) : std::nullopt;
}

bool Tracefs::is_user_probe(std::string_view system, std::string_view event) const {
    const std::string text = root_.read(directory_ + "/uprobe_events").value_or("");
    return uprobe_line(text, system, event).has_value();
}

bool happens_in_user_mode(const abi::Attr& attr, std::string_view event, const Root& root) {
    if (abi::happens_in_user_mode(attr.type, attr.config, event)) return true;
    const std::size_t colon = event.find(':');
    if (attr.type != abi::kTypeTracepoint || colon == std::string_view::npos) return false;
    const auto tracefs = Tracefs::find(root);
    if (!tracefs) return false;
    const std::string_view name = event.substr(colon + 1);
    return tracefs->is_user_probe(event.substr(0, colon), name.substr(0, name.find(':')));
}

}  // namespace anyperf::host
