// tracepoint_table.cpp: the formats are those of Linux 6.18: include/trace/events/syscalls.h and sched.h for
// raw_syscalls and sched, kernel/trace/trace_syscalls.c for syscalls.
#include "pmu/tracing/tracepoint_table.h"

#include <fmt/format.h>

#include <array>

namespace anyperf::pmu {
namespace {

using subsystem::Source;
using OccurrenceKind = Source::OccurrenceKind;

/// A system call of x86-64 that has tracepoints, from data/syscalls/syscalls.tsv. `name` is as in the names of the
/// tracepoints. `arguments` is "type name; type name".
struct SyscallRow {
    std::uint32_t number;
    std::string_view name;
    std::string_view arguments;
};

constexpr auto kSyscalls = std::to_array<SyscallRow>({
#include "syscall_tracepoints.inc"
});

constexpr std::uint32_t kFirstOwnId = 30'000;  ///< kernels of today have some thousand tracepoints, so these are free
constexpr std::uint16_t kCommonBytes = 8;      ///< size of the common fields
constexpr std::uint16_t kFirstArgument = 16;   ///< offset of the arguments: after the call's number, 8-byte aligned

/// A source that counts occurrences. `in_kernel`: the samples of the kernel's tracepoint have registers of kernel mode.
/// `number` selects the system call; `arguments` is how many arguments its record has.
Source source(OccurrenceKind kind, bool in_kernel, std::uint32_t number = 0, std::size_t arguments = 0) {
    Source made{.kind = Source::Kind::occurrences};
    made.occurrence_kind = kind;
    made.in_kernel = in_kernel;
    made.number = number;
    made.syscall_arguments = static_cast<std::uint8_t>(arguments);
    return made;
}

/// Every system call, with all six argument registers, whichever it uses. Here and below the offsets are written out
/// and not computed, because the layout is that of the kernel's TRACE_EVENT.
Tracepoint raw_enter() {
    return {.system = "raw_syscalls",
            .name = "sys_enter",
            .source = source(OccurrenceKind::syscall_entered, true, Source::kEverySyscall, 6),
            .fields = {{"long", "id", 8, 8, true}, {"unsigned long[6]", "args", 16, 48, false}},
            .print =
                "\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], REC->args[1], REC->args[2], "
                "REC->args[3], REC->args[4], REC->args[5]",
            .allows_unprivileged_raw = true};
}

Tracepoint raw_exit() {
    return {.system = "raw_syscalls",
            .name = "sys_exit",
            .source = source(OccurrenceKind::syscall_returned, true, Source::kEverySyscall),
            .fields = {{"long", "id", 8, 8, true}, {"long", "ret", 16, 8, true}},
            .print = "\"NR %ld = %ld\", REC->id, REC->ret",
            .allows_unprivileged_raw = true};
}

Tracepoint process_fork() {
    return {.system = "sched",
            .name = "sched_process_fork",
            .source = source(OccurrenceKind::process_forked, true),
            .fields = {{"__data_loc char[]", "parent_comm", 8, 4, false},
                       {"pid_t", "parent_pid", 12, 4, true},
                       {"__data_loc char[]", "child_comm", 16, 4, false},
                       {"pid_t", "child_pid", 20, 4, true}},
            .print =
                "\"comm=%s pid=%d child_comm=%s child_pid=%d\", __get_str(parent_comm), REC->parent_pid, "
                "__get_str(child_comm), REC->child_pid"};
}

Tracepoint process_exec() {
    return {.system = "sched",
            .name = "sched_process_exec",
            .source = source(OccurrenceKind::program_executed, true),
            .fields = {{"__data_loc char[]", "filename", 8, 4, false},
                       {"pid_t", "pid", 12, 4, true},
                       {"pid_t", "old_pid", 16, 4, true}},
            .print = "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid"};
}

Tracepoint process_exit() {
    return {.system = "sched",
            .name = "sched_process_exit",
            .source = source(OccurrenceKind::task_ended, true),
            .fields = {{"char[16]", "comm", 8, 16, false},
                       {"pid_t", "pid", 24, 4, true},
                       {"int", "prio", 28, 4, true},
                       {"bool", "group_dead", 32, 1, false}},
            .print =
                "\"comm=%s pid=%d prio=%d group_dead=%s\", REC->comm, REC->pid, REC->prio, REC->group_dead ? "
                "\"true\" : \"false\""};
}

const TraceField kNumberField{"int", "__syscall_nr", kCommonBytes, 4, true};

/// syscalls:sys_enter_NAME: each argument is a field of 8 bytes, and the print format follows from their names.
Tracepoint syscall_enter(const SyscallRow& row) {
    Tracepoint made{.system = "syscalls", .name = fmt::format("sys_enter_{}", row.name), .fields = {kNumberField}};
    std::string names;
    std::string values;
    std::string_view rest = row.arguments;
    std::uint16_t offset = kFirstArgument;
    while (!rest.empty()) {
        const std::string_view argument = rest.substr(0, rest.find("; "));
        rest.remove_prefix(std::min(rest.size(), argument.size() + 2));
        const std::size_t space = argument.rfind(' ');
        const std::string_view name = argument.substr(space + 1);
        made.fields.push_back({std::string{argument.substr(0, space)}, std::string{name}, offset, 8, false});
        names += fmt::format("{}{}: 0x%08lx", names.empty() ? "" : ", ", name);
        values += fmt::format(", ((unsigned long)(REC->{}))", name);
        offset = static_cast<std::uint16_t>(offset + 8);
    }
    made.print = fmt::format("\"{}\"{}", names, values);
    made.source = source(OccurrenceKind::syscall_entered, false, row.number, made.fields.size() - 1);
    made.allows_unprivileged_raw = true;
    return made;
}

/// syscalls:sys_exit_NAME.
Tracepoint syscall_exit(const SyscallRow& row) {
    return {.system = "syscalls",
            .name = fmt::format("sys_exit_{}", row.name),
            .source = source(OccurrenceKind::syscall_returned, false, row.number),
            .fields = {kNumberField, {"long", "ret", kFirstArgument, 8, true}},
            .print = "\"0x%lx\", REC->ret",
            .allows_unprivileged_raw = true};
}

/// A "field:" line of a format file: type and name, offset, size and sign.
void put_field(std::string& text, const TraceField& field) {
    // As in a C declaration, the length of an array follows the name. __data_loc keeps its [] with the type.
    const std::size_t bracket = field.type.starts_with("__data_loc") ? std::string::npos : field.type.find('[');
    const std::string type = field.type.substr(0, bracket);
    const std::string length = bracket == std::string::npos ? "" : field.type.substr(bracket);
    text += fmt::format("\tfield:{} {}{};\toffset:{};\tsize:{};\tsigned:{};\n", type, field.name, length, field.offset,
                        field.size, field.is_signed ? 1 : 0);
}

}  // namespace

std::vector<Tracepoint> tracepoints(const FindHostId& find_host_id) {
    std::vector<Tracepoint> all{raw_enter(), raw_exit(), process_fork(), process_exec(), process_exit()};
    for (const SyscallRow& row : kSyscalls) {
        all.push_back(syscall_enter(row));
        all.push_back(syscall_exit(row));
    }
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        const auto known = find_host_id ? find_host_id(all[i].system, all[i].name) : std::nullopt;
        all[i].id = known.value_or(kFirstOwnId + i);
    }
    return all;
}

const std::vector<TraceField>& common_fields() {
    static const std::vector<TraceField> fields{{"unsigned short", "common_type", 0, 2, false},
                                                {"unsigned char", "common_flags", 2, 1, false},
                                                {"unsigned char", "common_preempt_count", 3, 1, false},
                                                {"int", "common_pid", 4, 4, true}};
    return fields;
}

std::string format_text(const Tracepoint& tracepoint) {
    std::string text = fmt::format("name: {}\nID: {}\nformat:\n", tracepoint.name, tracepoint.id);
    for (const TraceField& field : common_fields()) put_field(text, field);
    text += '\n';
    for (const TraceField& field : tracepoint.fields) put_field(text, field);
    return text + fmt::format("\nprint fmt: {}\n", tracepoint.print);
}

}  // namespace anyperf::pmu
