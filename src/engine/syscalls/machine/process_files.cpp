#include "engine/syscalls/machine/process_files.h"

#include <algorithm>
#include <array>

#include "engine/engine.h"
#include "engine/freestanding/copied_text.h"
#include "engine/freestanding/idle_text.h"
#include "engine/shown_ids.h"
#include "engine/syscalls/machine_files.h"
#include "engine/threads/run_records.h"
#include "engine/time/virtual_clock.h"
#include "engine/turns/slots.h"
#include "engine/turns/turns.h"

namespace anyperf::engine {

namespace {

/// An id in a text of the kernel's.
void put_id(const Engine& engine, FileText& out, std::string_view text) {
    const std::int32_t id = decimal_number(text);
    if (id == 0 || !turns::shows_ids(engine))
        out.text(text);
    else
        out.decimal(static_cast<std::uint64_t>(turns::shown_of(*engine.turns, id)));
}

/// The state of process `pid` by proc(5). `kernels`: the kernel's. A thread that waits for its turn can run, as one
/// that has it; the kernel sees both sleep. It may see a thread that waits for something else on its way there.
char shown_state(const Thread& thread, std::int32_t pid, char kernels) {
    const bool runs_or_sleeps = kernels == 'R' || kernels == 'S' || kernels == 'D';
    if (!runs_or_sleeps || !turns::on(*thread.engine)) return kernels;
    if (pid == thread.page.pid) return 'R';
    const run::Turns& all = *thread.engine->turns;
    const bool can_run = turns::any_slot(all, [&](std::uint32_t number) {
        const turns::TurnSlot& slot = all.slot[number];
        const turns::TurnState state = turns::load_state(slot);
        return slot.pid == pid && slot.tid == pid &&
               (state == turns::TurnState::ready || state == turns::TurnState::running ||
                state == turns::TurnState::arriving);
    });
    return can_run ? 'R' : 'S';
}

/// /proc/PID/stat: the field's number is that of proc(5).
void put_process_stat(Thread& thread, std::int32_t pid, std::string_view text, std::uint64_t cpu_ns, FileText& out) {
    constexpr std::uint64_t kBytes = std::uint64_t{100} << 20;
    constexpr std::uint64_t kResidentPages = 2560;
    const Engine& engine = *thread.engine;
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string_view::npos) return;
    const std::size_t id_end = text.find(' ');
    put_id(engine, out, text.substr(0, id_end));
    out.text(after(text.substr(0, name_end + 1), id_end));
    std::string_view rest = after(text, name_end + 2);
    for (unsigned field = 3; !rest.empty(); ++field) {
        const bool last = rest.find(' ') == std::string_view::npos;
        const std::string_view value = take(rest, last ? '\n' : ' ');
        out.text(" ");
        switch (field) {
            case 3: {
                const char state = shown_state(thread, pid, value.empty() ? 'R' : value.front());
                out.text({&state, 1});
                break;
            }
            case 4:
            case 5:
            case 6:
            case 8: put_id(engine, out, value); break;
            case 10:  // faults
            case 11:
            case 12:
            case 13: out.decimal(0); break;
            case 14: out.decimal(cpu_ns / kNsOfTick); break;
            case 15:
            case 16:
            case 17: out.decimal(0); break;
            case 22: out.decimal(kUptimeNs / kNsOfTick); break;
            case 23: out.decimal(kBytes); break;
            case 24: out.decimal(kResidentPages); break;
            case 29:  // stack and instruction pointer, where it waits, CPU
            case 30:
            case 35:
            case 39: out.decimal(0); break;
            default: out.text(value);
        }
    }
    out.text("\n");
}

/// The line of /proc/PID/status. `kernels`: the kernel's value, which names states that the run does not change.
void put_state(char state, std::string_view kernels, FileText& out) {
    out.text("State:\t").text(state == 'R' ? "R (running)" : state == 'S' ? "S (sleeping)" : kernels);
}

/// /proc/PID/status.
void put_process_status(const Thread& thread, std::int32_t pid, std::string_view text, FileText& out) {
    const Engine& engine = *thread.engine;
    constexpr std::array<std::string_view, 8> kIds{"Tgid", "Ngid", "Pid", "PPid", "NStgid", "NSpid", "NSpgid", "NSsid"};
    while (!text.empty()) {
        const std::string_view line = take(text, '\n');
        const std::string_view name = line.substr(0, line.find(':'));
        const std::string_view value = after(line, name.size() + 2);
        if (std::ranges::find(kIds, name) != kIds.end())
            put_id(engine, out.text(name).text(":\t"), value);
        else if (name == "State" && !value.empty())
            put_state(shown_state(thread, pid, value.front()), value, out);
        else if (name.starts_with("Vm") || name.starts_with("Rss"))
            out.text(name).text(":\t   10240 kB");
        else if (name.ends_with("ctxt_switches"))
            out.text(name).text(":\t0");
        else if (name == "SigQ")
            out.text("SigQ:\t0/30000");
        else if (name == "Cpus_allowed_list" && shown_cpus(engine) != 0)
            out.text("Cpus_allowed_list:\t").cpu_list(shown_cpus(engine));
        else
            out.text(line);
        out.text("\n");
    }
}

/// /proc/PID/sched: "NAME (ID, #threads: 1)" and lines "NAME : NUMBER".
void put_schedule(const Engine& engine, std::string_view text, FileText& out) {
    const std::string_view first = take(text, '\n');
    const std::size_t id = first.rfind('(') + 1;
    out.text(first.substr(0, id));
    const std::string_view rest = after(first, id);
    const std::size_t length = std::min(rest.find(','), rest.size());
    put_id(engine, out, rest.substr(0, length));
    out.text(after(rest, length)).text("\n");
    put_idle(text, out);
}

/// /proc/PID/smaps_rollup: the addresses as they are, then how much memory is used.
void put_rollup(std::string_view text, FileText& out) {
    out.text(take(text, '\n')).text("\n");
    while (!text.empty()) {
        const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
        put_no_usage(text.substr(0, length), out);
        text.remove_prefix(length);
    }
}

}  // namespace

bool is_process_file(const ProcPath& path) {
    constexpr std::array<std::string_view, 7> kNames{"stat",      "status", "statm",       "io",
                                                     "schedstat", "sched",  "smaps_rollup"};
    return path.pid != 0 && std::ranges::find(kNames, path.rest) != kNames.end();
}

bool put_process_file(Thread& thread, std::string_view path, std::uint64_t fd, FileText& out) {
    const ProcPath at = parse_proc_path(path);
    const Engine& engine = *thread.engine;
    if (!is_process_file(at)) return false;
    const run::ProcessRecord* const record = record_of_process(engine, at.pid);
    if (record == nullptr) return false;
    char room[4096];
    const long got = kernel_call(__NR_read, fd, address_of(room), sizeof room);
    if (got <= 0) return false;
    const std::string_view text{room, static_cast<std::size_t>(got)};
    const bool own = at.pid == thread.page.pid;
    const std::uint64_t cpu_ns = own ? process_cpu_ns(thread) : record->cpu_units / kUnitsOfNanosecond;
    if (at.rest == "stat")
        put_process_stat(thread, at.pid, text, cpu_ns, out);
    else if (at.rest == "status")
        put_process_status(thread, at.pid, text, out);
    else if (at.rest == "statm")
        out.text("25600 2560 1024 100 0 2560 0\n");
    else if (at.rest == "sched")
        put_schedule(engine, text, out);
    else if (at.rest == "smaps_rollup")
        put_rollup(text, out);
    else if (at.rest == "schedstat")
        out.decimal(cpu_ns).text(" 0 1\n");
    else
        out.text("rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n");
    return true;
}

}  // namespace anyperf::engine
