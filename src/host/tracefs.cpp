// tracefs.cpp: see tracefs.h.
#include "host/tracefs.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

namespace anyperf::host {

namespace {

constexpr std::array<std::string_view, 2> kPlaces{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
constexpr std::string_view kWhat = "cannot look up tracepoints";

Error unreadable(std::string_view place) {
    return Error{std::string{kWhat}, std::string{place} + " may be read by root only (it is mounted with mode 0700)",
                 "run as root, or once as root: mount -o remount,mode=755 " + std::string{place}};
}

Error not_mounted() {
    return Error{std::string{kWhat},
                 "tracefs is mounted neither at /sys/kernel/tracing nor at /sys/kernel/debug/tracing",
                 "as root: mount -t tracefs tracefs /sys/kernel/tracing"};
}

}  // namespace

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
        return root_.list(directory_ + "/events/" + name).empty();  // `enable`, `header_page` and others are files
    });
    return names;
}

std::vector<std::string> Tracefs::events(std::string_view system) const {
    const std::string folder = directory_ + "/events/" + std::string{system};
    std::vector<std::string> names = root_.list(folder);
    // `enable` and `filter` are the system's own files; a tracepoint is a folder with an id (ftrace's own have none
    // that perf may open, but a file all the same).
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
            Error{"cannot use the tracepoint " + name, "its id is '" + text + "', which is no number", ""});
    return value;
}

}  // namespace anyperf::host
