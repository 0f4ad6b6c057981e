// counts.cpp: see counts.h.
#include "broker/counts.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "engine/x86_64/classes.h"

namespace anyperf::broker {

namespace {

using engine::kCounters;
using engine::RecordState;
using engine::x86_64::Class;
using engine::x86_64::ClassRow;
using engine::x86_64::kClasses;
using nlohmann::ordered_json;

using Counts = std::array<std::uint64_t, kCounters>;

struct Thread {
    std::int32_t tid;
    std::string comm;
    Counts counts;
};

std::string text(const char* bytes, std::size_t room) {
    return {bytes, ::strnlen(bytes, room)};
}

Counts counts_of_page(const engine::ThreadPage& page) {
    Counts counts;
    for (std::size_t row = 0; row < counts.size(); ++row) counts[row] = page.counters.count(row);
    counts[static_cast<std::size_t>(Class::instructions)] = page.counters.retired();
    return counts;
}

/// Threads by their process's record: those that have ended, and those that were killed or run still.
std::multimap<std::uint32_t, Thread> threads_of(const RunMemory& memory) {
    std::multimap<std::uint32_t, Thread> threads;
    const engine::RunHeader& header = memory.header();
    for (std::uint32_t number = 1; number <= header.threads && number < engine::kMaximumThreads; ++number) {
        const engine::ThreadRecord& record = memory.thread(number);
        if (record.state != RecordState::ended) continue;
        Counts counts;
        std::ranges::copy(record.count, counts.begin());
        threads.emplace(record.process, Thread{record.tid, text(record.comm, sizeof record.comm), counts});
    }
    for (std::uint32_t number = 0; number < header.thread_pages && number < engine::kMaximumThreadPages; ++number) {
        const engine::ThreadPage& page = memory.thread_page(number);
        const bool told = page.record != 0 && memory.thread(page.record).state == RecordState::ended;
        if (page.state == RecordState::free || told) continue;
        threads.emplace(page.process, Thread{page.tid, text(page.comm, sizeof page.comm), counts_of_page(page)});
    }
    return threads;
}

ordered_json to_json(const Counts& counts, std::uint32_t classes) {
    ordered_json object = ordered_json::object();
    for (const ClassRow& row : kClasses)
        if ((classes & engine::x86_64::bit(row.id)) != 0)
            object[std::string{row.name}] = counts[static_cast<std::size_t>(row.id)];
    return object;
}

ordered_json exit_of(int status) {
    if (status == -1) return nullptr;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ordered_json counts_of(const RunResult& result) {
    const engine::RunHeader& header = result.memory.header();
    const auto threads = threads_of(result.memory);
    Counts total{};
    ordered_json processes = ordered_json::array();
    for (std::uint32_t number = 1; number <= header.processes && number < engine::kMaximumProcesses; ++number) {
        const engine::ProcessRecord& record = result.memory.process(number);
        if (record.state == RecordState::free) continue;
        ordered_json listed = ordered_json::array();
        const auto [first, last] = threads.equal_range(number);
        for (auto entry = first; entry != last; ++entry) {
            const Thread& thread = entry->second;
            for (std::size_t i = 0; i < kCounters; ++i) total[i] += thread.counts[i];
            listed.push_back(
                {{"tid", thread.tid}, {"comm", thread.comm}, {"counts", to_json(thread.counts, header.counting)}});
        }
        const int status = number == 1 ? result.status : record.exit_status;
        processes.push_back({{"pid", record.pid},
                             {"comm", text(record.comm, sizeof record.comm)},
                             {"exe", text(record.exe, sizeof record.exe)},
                             {"exit", exit_of(status)},
                             {"threads", listed}});
    }
    return {{"total", to_json(total, header.counting)}, {"processes", processes}};
}

Result<std::uint32_t> parse_classes(const std::string& list) {
    if (list.empty() || list == "all") return engine::x86_64::kEveryClass;
    std::uint32_t classes = 0;
    std::string_view rest = list;
    for (;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view name = rest.substr(0, comma);
        const auto* const row = std::ranges::find(kClasses, name, &ClassRow::name);
        if (row == kClasses.end()) {
            std::string names;
            for (const ClassRow& known : kClasses) names += (names.empty() ? "" : ", ") + std::string{known.name};
            return std::unexpected(Error{"cannot count '" + std::string{name} + "'",
                                         "there is no such class of instructions", "choose from: " + names});
        }
        classes |= engine::x86_64::bit(row->id);
        if (comma == std::string_view::npos) return classes;
        rest.remove_prefix(comma + 1);
    }
}

}  // namespace anyperf::broker
