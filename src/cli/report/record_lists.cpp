#include "cli/report/record_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perfdata/side_band.h"

namespace anyperf::cli {

namespace {

using perfdata::Bytes;
using perfdata::RecordType;

/// perf's names of records (perf_event__names in tools/perf/util/event.c), and those of newer ones in the same form.
struct TypeName {
    std::uint32_t type;
    std::string_view name;
};
constexpr std::array kTypeNames{
    TypeName{1, "MMAP"},
    TypeName{2, "LOST"},
    TypeName{3, "COMM"},
    TypeName{4, "EXIT"},
    TypeName{5, "THROTTLE"},
    TypeName{6, "UNTHROTTLE"},
    TypeName{7, "FORK"},
    TypeName{8, "READ"},
    TypeName{9, "SAMPLE"},
    TypeName{10, "MMAP2"},
    TypeName{11, "AUX"},
    TypeName{12, "ITRACE_START"},
    TypeName{13, "LOST_SAMPLES"},
    TypeName{14, "SWITCH"},
    TypeName{15, "SWITCH_CPU_WIDE"},
    TypeName{16, "NAMESPACES"},
    TypeName{17, "KSYMBOL"},
    TypeName{18, "BPF_EVENT"},
    TypeName{19, "CGROUP"},
    TypeName{20, "TEXT_POKE"},
    TypeName{21, "AUX_OUTPUT_HW_ID"},
    TypeName{22, "CALLCHAIN_DEFERRED"},
    TypeName{64, "ATTR"},
    TypeName{65, "EVENT_TYPE"},
    TypeName{66, "TRACING_DATA"},
    TypeName{67, "BUILD_ID"},
    TypeName{68, "FINISHED_ROUND"},
    TypeName{69, "ID_INDEX"},
    TypeName{70, "AUXTRACE_INFO"},
    TypeName{71, "AUXTRACE"},
    TypeName{72, "AUXTRACE_ERROR"},
    TypeName{73, "THREAD_MAP"},
    TypeName{74, "CPU_MAP"},
    TypeName{75, "STAT_CONFIG"},
    TypeName{76, "STAT"},
    TypeName{77, "STAT_ROUND"},
    TypeName{78, "EVENT_UPDATE"},
    TypeName{79, "TIME_CONV"},
    TypeName{80, "FEATURE"},
    TypeName{81, "COMPRESSED"},
    TypeName{82, "FINISHED_INIT"},
    TypeName{83, "COMPRESSED2"},
    TypeName{84, "BPF_METADATA"},
    TypeName{85, "SCHEDSTAT_CPU"},
    TypeName{86, "SCHEDSTAT_DOMAIN"},
};

/// Counts the records of each type, and the samples of each event.
class RecordCounter final : public perfdata::Consumer {
  public:
    void sample(const perfdata::Sample&, std::size_t event) override {
        if (event >= samples_.size()) samples_.resize(event + 1);
        ++samples_[event];
    }
    bool needs_few_fields() const override { return true; }
    void record(const perfdata::Record& record) override { add(record.type); }
    void user_record(RecordType type, Bytes, bool) override { add(type); }

    /// A record with the counts of a group is several samples, so those are not counted one by one.
    std::string text(const perfdata::Summary& summary, const std::vector<perfdata::EventInfo>& events) {
        std::uint64_t others = 0;
        if (summary.compressed != 0) of_type_[static_cast<std::uint32_t>(RecordType::compressed)] = summary.compressed;
        for (const auto& [type, count] : of_type_) others += count;
        if (summary.records > others)
            of_type_[static_cast<std::uint32_t>(RecordType::sample)] = summary.records - others;
        const auto line = [](std::string_view name, std::uint64_t count) {
            return fmt::format("{:>16} events: {:10}", name, count);
        };
        std::string text = "\nAggregated stats:\n" + line("TOTAL", summary.records) + "\n";
        for (const TypeName& row : kTypeNames) {
            const auto known = of_type_.find(row.type);
            if (known == of_type_.end()) continue;
            const double share = 100.0 * static_cast<double>(known->second) / static_cast<double>(summary.records);
            text += line(row.name, known->second) + fmt::format("  ({:4.1f}%)\n", share);
        }
        for (std::size_t i = 0; i < samples_.size(); ++i)
            if (samples_[i] != 0) text += events[i].name + " stats:\n" + line("SAMPLE", samples_[i]) + "\n";
        return text;
    }

  private:
    void add(RecordType type) { ++of_type_[static_cast<std::uint32_t>(type)]; }

    std::map<std::uint32_t, std::uint64_t> of_type_;
    std::vector<std::uint64_t> samples_;  // by event
};

/// A mapping as its record has it.
struct MappedFile {
    std::uint64_t end = 0, offset = 0, inode = 0;
    std::uint32_t protection = 0, flags = 0;
    std::string name;
};

/// The mappings of a process by their addresses. One that is mapped over others leaves what it does not cover.
class MappedFiles {
  public:
    void add(std::uint64_t start, MappedFile file) {
        auto at = files_.upper_bound(start);
        if (at != files_.begin()) --at;
        while (at != files_.end() && at->first < file.end) {
            const auto [old_start, old] = *at;
            if (old.end <= start) {
                ++at;
                continue;
            }
            at = files_.erase(at);
            if (old_start < start) files_.emplace(old_start, old).first->second.end = start;
            if (old.end > file.end) {
                MappedFile& rest = files_.emplace(file.end, old).first->second;
                rest.offset += file.end - old_start;
                at = files_.upper_bound(file.end);
            }
        }
        files_.insert_or_assign(start, std::move(file));
    }

    /// The lines of the list, each after `indent` blanks.
    std::string text(std::size_t indent) const {
        constexpr std::uint32_t kRead = 1, kWrite = 2, kExecute = 4, kShared = 1;
        std::string text;
        for (const auto& [start, file] : files_)
            text += fmt::format("{:{}}  {:x}-{:x} {}{}{}{} {:08x} {} {}\n", "", indent, start, file.end,
                                (file.protection & kRead) != 0 ? 'r' : '-', (file.protection & kWrite) != 0 ? 'w' : '-',
                                (file.protection & kExecute) != 0 ? 'x' : '-', (file.flags & kShared) != 0 ? 's' : 'p',
                                file.offset, file.inode, file.name);
        return text;
    }

  private:
    std::map<std::uint64_t, MappedFile> files_;
};

/// How perf names what is mapped (map__new() in tools/perf/util/map.c): generated code by the file that says its names.
std::string name_of_map(const perfdata::MapRecord& map, const MappedFile& file) {
    constexpr std::uint32_t kHugePages = 0x40000;  // MAP_HUGETLB
    const auto begins = [&](std::string_view start) { return map.path.starts_with(start); };
    const bool has_no_file = map.path == "//anon" || begins("/dev/zero") || begins("/anon_hugepage") ||
                             begins("[stack") || begins("/SYSV") || map.path == "[heap]" ||
                             (file.flags & kHugePages) != 0;
    return has_no_file && map.executable ? fmt::format("/tmp/perf-{}.map", map.pid) : std::string{map.path};
}

MappedFile mapped_by(const perfdata::Record& record, const perfdata::MapRecord& map) {
    MappedFile file{.end = map.start + map.size, .offset = map.file_offset, .name = {}};
    perfdata::Cursor rest{record.bytes};
    rest.skip(perfdata::kRecordHeader + 8 + 24);  // pid and tid; address, length and offset
    if (record.type == RecordType::mmap2) {
        const bool has_build_id = (record.misc & perfdata::kMiscMmapBuildId) != 0;
        rest.skip(8);  // the device
        file.inode = rest.u64();
        if (has_build_id) file.inode = 0;
        rest.skip(8);  // the generation
        file.protection = rest.u32();
        file.flags = rest.u32();
    } else if (map.executable) {
        file.protection = 4;  // PROT_EXEC
    }
    if (map.path == "[vdso]") file.offset = 0;
    file.name = name_of_map(map, file);
    return file;
}

/// The threads of a recording, with the parents that FORK records name and the names and mappings that they have at the
/// end.
class TaskList final : public perfdata::Consumer {
  public:
    explicit TaskList(bool with_maps) : with_maps_(with_maps) {
        Task& idle = find_or_make(0, 0);
        idle.comm = "swapper";
        idle.has_name = true;
    }

    void sample(const perfdata::Sample&, std::size_t) override {}
    bool needs_few_fields() const override { return true; }
    void record(const perfdata::Record& record) override {
        switch (record.type) {
            case RecordType::fork: follow_fork(record); break;
            case RecordType::comm: follow_comm(record); break;
            case RecordType::mmap:
            case RecordType::mmap2:
                if (with_maps_) follow_map(record);
                break;
            default: break;
        }
    }

    // perf walks over its hash table of threads, and puts each one below its parent, that one below its own, and so on.
    std::string text() {
        std::vector<Task*> order;
        order.reserve(tasks_.size());
        for (auto& [tid, task] : tasks_) order.push_back(&task);
        constexpr std::uint32_t kBuckets = 256;
        std::ranges::stable_sort(order, {}, [](const Task* task) { return task->tid % kBuckets; });
        std::vector<const Task*> roots;
        for (Task* task : order)
            for (Task* at = task; at != nullptr && !at->linked;) at = link(*at, roots);
        std::string text = fmt::format("# {:>8} {:>8} {:>8}  comm\n", "pid", "tid", "ppid");
        for (const Task* root : roots) append(*root, text);
        return text;
    }

  private:
    static constexpr std::int64_t kNoParent = -1;

    struct Task {
        std::uint32_t pid = 0, tid = 0;
        std::int64_t parent = kNoParent;
        std::string comm;
        bool has_name = false;  // by a record
        bool linked = false;
        std::shared_ptr<MappedFiles> maps;
        std::vector<const Task*> children;
    };

    Task& find_or_make(std::uint32_t pid, std::uint32_t tid) {
        if (const auto known = tasks_.find(tid); known != tasks_.end()) return known->second;
        const std::shared_ptr<MappedFiles> maps =
            pid == tid ? std::make_shared<MappedFiles>() : find_or_make(pid, pid).maps;
        Task& made = tasks_[tid];
        made.pid = pid;
        made.tid = tid;
        made.comm = fmt::format(":{}", tid);
        made.maps = maps;
        return made;
    }

    void follow_fork(const perfdata::Record& record) {
        constexpr std::uint16_t kOfExec = 1 << 13;  // PERF_RECORD_MISC_FORK_EXEC
        const auto fork = perfdata::read_task(record.bytes);
        if (!fork) return;
        find_or_make(fork->parent_pid, fork->parent_tid);
        if (fork->tid != fork->parent_tid) tasks_.erase(fork->tid);
        Task& task = find_or_make(fork->pid, fork->tid);
        const Task& parent = tasks_.at(fork->parent_tid);
        task.parent = parent.tid;
        if (parent.has_name) task.comm = parent.comm, task.has_name = true;
        if (task.pid != parent.pid && (record.misc & kOfExec) == 0) *task.maps = *parent.maps;
    }

    void follow_comm(const perfdata::Record& record) {
        const auto comm = perfdata::read_comm(record.bytes);
        if (!comm) return;
        Task& task = find_or_make(comm->pid, comm->tid);
        task.comm = comm->comm;
        task.has_name = true;
    }

    void follow_map(const perfdata::Record& record) {
        const auto map = perfdata::read_map(record.bytes);
        if (!map || map->kernel || map->size == 0) return;
        find_or_make(map->pid, map->tid).maps->add(map->start, mapped_by(record, *map));
    }

    /// Puts the task below its parent, which it returns; null: it has none.
    Task* link(Task& task, std::vector<const Task*>& roots) {
        task.linked = true;
        const auto parent =
            task.parent == kNoParent ? tasks_.end() : tasks_.find(static_cast<std::uint32_t>(task.parent));
        if (parent == tasks_.end()) {
            roots.push_back(&task);
            return nullptr;
        }
        parent->second.children.push_back(&task);
        return &parent->second;
    }

    /// Without recursion: chains of forks may be long.
    void append(const Task& root, std::string& text) const {
        std::vector<std::pair<const Task*, std::size_t>> left{{&root, 0}};
        while (!left.empty()) {
            const auto [task, level] = left.back();
            left.pop_back();
            const std::string head =
                fmt::format("  {:8} {:8} {:8} |{:{}}", task->pid, task->tid, task->parent, "", level);
            text += head + task->comm + "\n" + task->maps->text(head.size());
            for (auto child = task->children.rbegin(); child != task->children.rend(); ++child)
                left.emplace_back(*child, level + 1);
        }
    }

    bool with_maps_;
    std::map<std::uint32_t, Task> tasks_;  // by tid
};

}  // namespace

std::string_view record_type_name(std::uint32_t type) {
    const auto row = std::ranges::find(kTypeNames, type, &TypeName::type);
    return row == kTypeNames.end() ? "UNKNOWN" : row->name;
}

Result<void> print_record_lists(const RecordLists& wanted, perfdata::Reader& reader, Output& out) {
    if (wanted.stats && (wanted.tasks || wanted.maps))
        return std::unexpected(
            Error{"cannot print two lists", "--stats excludes --tasks and --mmaps", "use one of them"});
    std::string text;
    perfdata::Summary summary;
    if (wanted.stats) {
        RecordCounter counter;
        summary = reader.read(counter);
        text = counter.text(summary, reader.events());
    } else {
        TaskList tasks{wanted.maps};
        summary = reader.read(tasks);
        text = tasks.text();
    }
    out.print(text);
    if (summary.damage) out.note(fmt::format("anyperf: {}: {}\n", summary.damage->what, summary.damage->cause));
    return {};
}

}  // namespace anyperf::cli
