// side_band_text.cpp: the texts are compared with perf's by tests, so blanks follow its sources even where they look
// accidental.
#include "cli/script/side_band_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "perfdata/cursor.h"
#include "perfdata/side_band.h"

namespace anyperf::cli {

namespace {

using perfdata::Bytes;
using perfdata::Cursor;
using perfdata::Record;
using perfdata::RecordType;

struct Task {
    std::int32_t first = 0, second = 0;
};
Task take_task(Cursor& cursor) {
    const auto first = static_cast<std::int32_t>(cursor.u32());
    return {first, static_cast<std::int32_t>(cursor.u32())};
}

std::string comm_text(const Record& record, Cursor& cursor) {
    const Task task = take_task(cursor);
    const std::string_view exec = (record.misc & perfdata::kMiscBit13) != 0 ? " exec" : "";
    return fmt::format("COMM{}: {}:{}/{}", exec, cursor.text(), task.first, task.second);
}

/// The parent comes before the task's own tid in the record.
std::string task_text(const Record& record, Cursor& cursor) {
    const Task processes = take_task(cursor), threads = take_task(cursor);
    return fmt::format("{}({}:{}):({}:{})", record.type == RecordType::fork ? "FORK" : "EXIT", processes.first,
                       threads.first, processes.second, threads.second);
}

std::string place_text(Cursor& cursor) {
    const Task task = take_task(cursor);
    const std::uint64_t start = cursor.u64(), size = cursor.u64(), offset = cursor.u64();
    return fmt::format(" {}/{}: [{}({}) @ {}", task.first, task.second, hexadecimal(start), hexadecimal(size),
                       hexadecimal(offset));
}

std::string map_text(const Record& record, Cursor& cursor) {
    const std::string place = place_text(cursor);
    const char mode = (record.misc & perfdata::kMiscBit13) != 0 ? 'r' : 'x';
    return fmt::format("MMAP{}]: {} {}", place, mode, cursor.text());
}

std::string file_text(const Record& record, Cursor& cursor) {
    constexpr std::size_t kMostBuildId = 20;
    if ((record.misc & perfdata::kMiscMmapBuildId) != 0) {
        const std::size_t size = cursor.u8();
        cursor.skip(3);
        const Bytes id = cursor.bytes(kMostBuildId);
        return fmt::format(" <{}>", perfdata::hexadecimal(id.first(std::min(size, id.size()))));
    }
    const std::uint32_t major = cursor.u32(), minor = cursor.u32();
    const std::uint64_t inode = cursor.u64(), generation = cursor.u64();
    return fmt::format(" {:02x}:{:02x} {} {}", major, minor, inode, generation);
}

std::string map2_text(const Record& record, Cursor& cursor) {
    constexpr std::uint32_t kRead = 1, kWrite = 2, kExecute = 4, kShared = 1;
    const std::string place = place_text(cursor), file = file_text(record, cursor);
    const std::uint32_t access = cursor.u32(), flags = cursor.u32();
    return fmt::format("MMAP2{}{}]: {}{}{}{} {}", place, file, (access & kRead) != 0 ? 'r' : '-',
                       (access & kWrite) != 0 ? 'w' : '-', (access & kExecute) != 0 ? 'x' : '-',
                       (flags & kShared) != 0 ? 's' : 'p', cursor.text());
}

std::string switch_text(const Record& record, Cursor& cursor) {
    const bool out = (record.misc & perfdata::kMiscBit13) != 0;
    const bool preempted = (record.misc & perfdata::kMiscMmapBuildId) != 0;
    const std::string_view what = !out ? "IN         " : preempted ? "OUT preempt" : "OUT        ";
    if (record.type == RecordType::switch_) return fmt::format("SWITCH {}", what);
    const Task task = take_task(cursor);
    return fmt::format("SWITCH_CPU_WIDE {}  {} pid/tid: {:>5}/{:<5}", what, out ? "next" : "prev", task.first,
                       task.second);
}

std::string lost_text(const Record&, Cursor& cursor) {
    cursor.u64();  // the event's id
    return fmt::format("LOST lost {}", cursor.u64());
}

std::string namespaces_text(const Record&, Cursor& cursor) {
    constexpr std::array kNames{"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    const Task task = take_task(cursor);
    const std::uint64_t count = cursor.count(cursor.u64(), 16);
    std::string text = fmt::format("NAMESPACES {}/{} - nr_namespaces: {}\n\t\t[", task.first, task.second, count);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (i != 0 && i % 4 == 0) text += "\n\t\t ";
        const std::uint64_t device = cursor.u64();
        text += fmt::format("{}/{}: {}/{}{}", i, i < kNames.size() ? kNames[i] : "unknown", device,
                            hexadecimal(cursor.u64()), i + 1 == count ? "]" : ", ");
    }
    return text;
}

std::string cgroup_text(const Record&, Cursor& cursor) {
    const std::uint64_t id = cursor.u64();
    return fmt::format("CGROUP cgroup: {} {}", id, cursor.text());
}

std::string kernel_symbol_text(const Record&, Cursor& cursor) {
    const std::uint64_t address = cursor.u64();
    const std::uint32_t size = cursor.u32();
    const std::uint16_t type = cursor.u16(), flags = cursor.u16();
    return fmt::format("KSYMBOL addr {:x} len {} type {} flags 0x{:x} name {}", address, size, type, flags,
                       cursor.text());
}

std::string bpf_text(const Record&, Cursor& cursor) {
    const std::uint16_t type = cursor.u16(), flags = cursor.u16();
    return fmt::format("BPF_EVENT type {}, flags {}, id {}", type, flags, cursor.u32());
}

struct Row {
    RecordType type;
    bool ShownRecords::* shown;
    std::string (*text)(const Record&, Cursor&);
};
constexpr std::array kRows{
    Row{RecordType::mmap, &ShownRecords::maps, map_text},
    Row{RecordType::lost, &ShownRecords::losses, lost_text},
    Row{RecordType::comm, &ShownRecords::tasks, comm_text},
    Row{RecordType::exit, &ShownRecords::tasks, task_text},
    Row{RecordType::fork, &ShownRecords::tasks, task_text},
    Row{RecordType::mmap2, &ShownRecords::maps, map2_text},
    Row{RecordType::switch_, &ShownRecords::switches, switch_text},
    Row{RecordType::switch_cpu_wide, &ShownRecords::switches, switch_text},
    Row{RecordType::namespaces, &ShownRecords::namespaces, namespaces_text},
    Row{RecordType::ksymbol, &ShownRecords::bpf, kernel_symbol_text},
    Row{RecordType::bpf_event, &ShownRecords::bpf, bpf_text},
    Row{RecordType::cgroup, &ShownRecords::cgroups, cgroup_text},
};

}  // namespace

std::string hexadecimal(std::uint64_t number) {
    return number == 0 ? "0" : fmt::format("{:#x}", number);
}

bool ShownRecords::has(RecordType type) const {
    const auto row = std::ranges::find(kRows, type, &Row::type);
    return row != kRows.end() && this->*row->shown;
}

std::uint32_t tid_of(const Record& record) {
    if (record.type == RecordType::fork || record.type == RecordType::exit) {
        const auto task = perfdata::read_task(record.bytes);
        return task ? task->tid : record.tid;
    }
    constexpr std::array kWithTask{RecordType::mmap, RecordType::comm, RecordType::mmap2, RecordType::namespaces};
    if (std::ranges::find(kWithTask, record.type) == kWithTask.end()) return record.tid;
    Cursor cursor{record.bytes.subspan(perfdata::kRecordHeader)};
    cursor.u32();  // the process
    const std::uint32_t tid = cursor.u32();
    return cursor.ok() ? tid : record.tid;
}

std::string side_band_text(const Record& record) {
    const auto row = std::ranges::find(kRows, record.type, &Row::type);
    if (row == kRows.end()) return {};
    Cursor cursor{record.bytes.subspan(perfdata::kRecordHeader)};
    std::string text = "PERF_RECORD_" + row->text(record, cursor);
    return cursor.ok() ? text : std::string{};
}

}  // namespace anyperf::cli
