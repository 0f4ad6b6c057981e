// files.cpp: makes the presented machine's files, and serves writes to uprobe_events and rdpmc.
#include "broker/requests/files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "broker/host/proc_task.h"

namespace anyperf::broker {

RequestAnswer on_files(RequestContext& request) {
    const std::uint64_t part = request.argument(0);
    const bool made = part < run::kFileParts && request.state.description.make_files(static_cast<std::uint32_t>(part));
    return {.value = made ? 1 : 0};
}

RequestAnswer on_define_probes(RequestContext& request) {
    // The broker opens the files that the lines name, with its own rights. So only a caller that could write the list
    // may ask.
    if (!may_write_for(request.kernel.tid, ::geteuid())) return refusal(EACCES);
    constexpr std::string_view kBlanks{" \t\0", 3};
    MachineDescription& machine = request.state.description;
    if (request.argument(0) != 0)
        if (const auto cleared = machine.probes.clear(); !cleared) return refusal(cleared.error().error);
    machine.files.update_probes(machine.probes);
    std::string_view text{reinterpret_cast<const char*>(request.payload.data()), request.payload.size()};
    // A full payload may end within a line: that line is left for the next request. The answer says what was taken.
    if (text.size() == run::kRequestPayload && text.contains('\n')) text = text.substr(0, text.rfind('\n') + 1);
    const auto taken = static_cast<std::int64_t>(text.size());
    while (!text.empty()) {
        const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::string_view words = line.substr(0, line.find('#'));
        if (words.find_first_not_of(kBlanks) == std::string_view::npos) continue;
        const auto defined = machine.probes.define(words);
        if (!defined) return refusal(defined.error().error);
        machine.files.update_probes(machine.probes);
    }
    return {.value = taken};
}

namespace {

/// The number in `text`, as kstrtoul(s, 0) of the kernel reads it: 0x for hexadecimal, 0 for octal, one newline at the
/// end.
std::optional<std::uint32_t> setting_in(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X"))
        base = 16, text.remove_prefix(2);
    else if (text.size() > 1 && text.starts_with('0'))
        base = 8, text.remove_prefix(1);
    std::uint32_t value = 0;
    const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || last != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

RequestAnswer on_allow_rdpmc(RequestContext& request) {
    // The descriptor that the program writes to is its own affair. So only a caller that could open the file may ask.
    if (!may_write_for(request.kernel.tid, ::geteuid())) return refusal(EACCES);
    const auto value = setting_in(text_of(request));
    if (!value || *value > run::kRdpmcAlways) return refusal(EINVAL);
    BrokerState& state = request.state;
    __atomic_store_n(&state.memory.header().rdpmc, *value, __ATOMIC_SEQ_CST);
    state.description.files.write_rdpmc(*value);
    if (state.machine)
        for (const TaskId& task : state.machine->host.living_tasks()) state.machine->host.request_safepoint(task);
    return {.value = static_cast<std::int64_t>(request.payload.size())};
}

}  // namespace anyperf::broker
