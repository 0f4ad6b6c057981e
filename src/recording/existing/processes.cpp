#include "recording/existing/processes.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/writer/byte_writer.h"

namespace anyperf::recording {

namespace {

using perfdata::kMiscBit13;
using perfdata::kMiscKernel;
using perfdata::kMiscUser;
using perfdata::RecordType;
using perfdata::RecordWriter;

constexpr std::size_t kLongestPath = 4096;
constexpr auto kNobody = static_cast<std::uint32_t>(-1);

/// Removes a number from the start of `text`, and the character `end` after it unless `end` is 0. False if the text
/// does not begin with them.
template <class Number>
bool take_number(std::string_view& text, Number& number, int base, char end) {
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(after - text.data()));
    if (end != 0 && (text.empty() || text.front() != end)) return false;
    if (end != 0) text.remove_prefix(1);
    return true;
}

std::string proc(pid_t process, std::string_view file) {
    return "/proc/" + std::to_string(process) + "/" + std::string{file};
}

/// Appends a sample id of zeros: no time, no task, no event. Readers process records of time 0 at once.
void finish(RecordWriter& record, const SynthesisOptions& options, const RecordSink& sink) {
    record.align(sizeof(std::uint64_t)).zeros(options.trailer_bytes);
    sink(record.finish());
}

/// One line of /proc/PID/maps: "start-end perms offset major:minor inode   path" (proc_pid_maps(5)).
struct MapLine {
    std::uint64_t start = 0, end = 0, offset = 0, inode = 0;
    std::uint32_t major = 0, minor = 0;
    std::uint32_t protection = 0, flags = 0;
    std::string_view path;
};

std::optional<MapLine> parse_map(std::string_view line) {
    constexpr std::size_t kPermissions = 5;  // "r-xp "
    MapLine map;
    if (!take_number(line, map.start, 16, '-') || !take_number(line, map.end, 16, ' ')) return std::nullopt;
    if (line.size() < kPermissions) return std::nullopt;
    const std::string_view permissions = line.substr(0, kPermissions);
    line.remove_prefix(kPermissions);
    if (permissions[0] == 'r') map.protection |= PROT_READ;
    if (permissions[1] == 'w') map.protection |= PROT_WRITE;
    if (permissions[2] == 'x') map.protection |= PROT_EXEC;
    map.flags = permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
    const bool whole = take_number(line, map.offset, 16, ' ') && take_number(line, map.major, 16, ':') &&
                       take_number(line, map.minor, 16, ' ') && take_number(line, map.inode, 10, 0);
    if (!whole) return std::nullopt;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    map.path = line.empty() ? "//anon" : line.substr(0, kLongestPath - 1);
    return map;
}

/// MMAP2. Mappings that are not executable are marked by bit 13 of misc (PERF_RECORD_MISC_MMAP_DATA). The generation of
/// the inode is 0: /proc does not show it.
void put_map(pid_t process, const MapLine& map, const SynthesisOptions& options, const RecordSink& sink) {
    const bool executable = (map.protection & PROT_EXEC) != 0;
    if (!executable && !options.data_maps) return;
    const auto misc = static_cast<std::uint16_t>(executable ? kMiscUser : kMiscUser | kMiscBit13);
    const std::uint32_t id = options.id(process);
    RecordWriter record{RecordType::mmap2, misc};
    record.u32(id).u32(id).u64(map.start).u64(map.end - map.start).u64(map.offset);
    record.u32(map.major).u32(map.minor).u64(map.inode).u64(0).u32(map.protection).u32(map.flags);
    record.padded_text(map.path, sizeof(std::uint64_t));
    finish(record, options, sink);
}

/// Lines that cannot be parsed are left out.
void put_maps(const host::Root& root, pid_t process, const SynthesisOptions& options, const RecordSink& sink) {
    const auto text = root.read(proc(process, "maps"));
    if (!text) return;
    for (const auto line : std::views::split(*text, '\n'))
        if (const auto map = parse_map(std::string_view{line.begin(), line.end()}))
            put_map(process, *map, options, sink);
}

void put_comm(pid_t process, pid_t thread, std::string_view name, const SynthesisOptions& options,
              const RecordSink& sink) {
    RecordWriter record{RecordType::comm, 0};
    record.u32(options.id(process)).u32(options.id(thread));
    record.padded_text(name, sizeof(std::uint64_t));
    finish(record, options, sink);
}

void put_fork(pid_t process, pid_t parent, pid_t thread, const SynthesisOptions& options, const RecordSink& sink) {
    // Bit 13: the task has executed since, so that readers copy no mappings from the parent
    // (PERF_RECORD_MISC_FORK_EXEC).
    RecordWriter record{RecordType::fork, kMiscBit13};
    record.u32(options.id(process)).u32(options.id(parent));
    record.u32(options.id(thread)).u32(options.id(parent)).u64(0);
    finish(record, options, sink);
}

/// The number in a line of /proc/PID/status: "PPid:\t1".
std::optional<pid_t> status_number(const host::Root& root, pid_t process, std::string_view name) {
    const auto text = root.read(proc(process, "status"));
    if (!text) return std::nullopt;
    const std::string line = "\n" + std::string{name} + ":\t";
    const auto at = text->find(line);
    if (at == std::string::npos) return std::nullopt;
    pid_t number = 0;
    std::from_chars(text->data() + at + line.size(), text->data() + text->size(), number);
    return number;
}

/// The numbers among the names in a directory, ascending.
std::vector<pid_t> numbers_in(const host::Root& root, const std::string& directory) {
    std::vector<pid_t> numbers;
    for (const auto& name : root.list(directory)) {
        pid_t number = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (error == std::errc{} && end == name.data() + name.size()) numbers.push_back(number);
    }
    std::ranges::sort(numbers);
    return numbers;
}

/// An MMAP record of the kernel: pid ~0, tid 0, as perf writes it (perf_event__synthesize_kernel_mmap()).
void put_kernel_map(std::uint64_t start, std::uint64_t size, std::uint64_t offset, std::string_view name,
                    const SynthesisOptions& options, const RecordSink& sink) {
    RecordWriter record{RecordType::mmap, kMiscKernel};
    record.u32(kNobody).u32(0).u64(start).u64(size).u64(offset).padded_text(name, sizeof(std::uint64_t));
    finish(record, options, sink);
}

/// /proc/modules: "name size uses users state address".
void put_modules(const host::Root& root, const SynthesisOptions& options, const RecordSink& sink) {
    std::istringstream lines{root.read("/proc/modules").value_or("")};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::string name, uses, users, state, address;
        std::uint64_t size = 0, start = 0;
        words >> name >> size >> uses >> users >> state >> address;
        std::string_view digits = address;
        if (digits.starts_with("0x")) digits.remove_prefix(2);
        if (take_number(digits, start, 16, 0) && start != 0)
            put_kernel_map(start, size, 0, "[" + name + "]", options, sink);
    }
}

/// The addresses of _text (or _stext, where the kernel has no such symbol) and _etext in /proc/kallsyms.
struct KernelText {
    std::uint64_t start = 0, end = 0;
    std::string_view symbol = "_text";
};
KernelText kernel_text(const host::Root& root) {
    KernelText found;
    const std::string symbols = root.read("/proc/kallsyms").value_or("") + "\n";
    const auto address_of = [&](std::string_view name) -> std::uint64_t {
        const auto at = symbols.find(" T " + std::string{name} + "\n");
        if (at == std::string::npos) return 0;
        const auto line = symbols.rfind('\n', at) + 1;  // npos + 1 is 0: the first line
        std::string_view digits{symbols.data() + line, at - line};
        std::uint64_t address = 0;
        return take_number(digits, address, 16, 0) ? address : 0;
    };
    found.start = address_of("_text");
    if (found.start == 0) {
        found.start = address_of("_stext");
        found.symbol = "_stext";
    }
    found.end = address_of("_etext");
    return found;
}

}  // namespace

pid_t process_of(const host::Root& root, pid_t thread) {
    return status_number(root, thread, "Tgid").value_or(0);
}

void put_name(const host::Root& root, pid_t process, const SynthesisOptions& options, const RecordSink& sink) {
    if (const auto name = root.read(proc(process, "comm"))) put_comm(process, process, *name, options, sink);
}

void put_process(const host::Root& root, pid_t process, const SynthesisOptions& options, const RecordSink& sink) {
    const auto parent = status_number(root, process, "PPid");
    if (!parent) return;
    for (const pid_t thread : numbers_in(root, proc(process, "task"))) {
        put_fork(process, thread == process ? *parent : process, thread, options, sink);
        const auto name = root.read(proc(process, "task/" + std::to_string(thread) + "/comm"));
        if (name) put_comm(process, thread, *name, options, sink);
        if (thread == process) put_maps(root, process, options, sink);
    }
}

void put_all_processes(const host::Root& root, const SynthesisOptions& options, const RecordSink& sink) {
    for (const pid_t process : numbers_in(root, "/proc")) put_process(root, process, options, sink);
}

bool put_kernel(const host::Root& root, const SynthesisOptions& options, const RecordSink& sink) {
    const KernelText text = kernel_text(root);
    if (text.start == 0) return false;
    const std::uint64_t end = text.end > text.start ? text.end : ~std::uint64_t{0};
    put_kernel_map(text.start, end - text.start, text.start, "[kernel.kallsyms]" + std::string{text.symbol}, options,
                   sink);
    put_modules(root, options, sink);
    return true;
}

}  // namespace anyperf::recording
