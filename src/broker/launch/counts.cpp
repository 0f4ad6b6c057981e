// counts.cpp: gathers the counts of a run from its records and thread pages.
//
// Two places have counts: the record that a thread writes when it ends, and the page of a thread that was killed or
// still runs. A thread that is killed between the two has both; then the record counts.
#include "broker/launch/counts.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "engine/x86_64/decode/classes.h"

namespace anyperf::broker {

namespace {

using engine::x86_64::ClassRow;
using engine::x86_64::kClasses;
using nlohmann::ordered_json;
using run::kCounters;
using run::RecordState;

using Counts = std::array<std::uint64_t, kCounters>;

struct Thread {
    std::int32_t tid;
    std::string comm;
    Counts counts;
};

/// Text in a field of `room` bytes; a full field has no NUL.
std::string text(const char* bytes, std::size_t room) {
    return {bytes, ::strnlen(bytes, room)};
}

Counts counts_of_page(const RunMemory& memory, std::uint32_t number) {
    return std::to_array(run::CopiedCounts::of(memory.counts_of(number)).of_class);
}

/// A process record: whose memory it is in, and its number there.
using ProcessPlace = std::pair<UserNumber, std::uint32_t>;

/// The threads of each process.
std::multimap<ProcessPlace, Thread> threads_of(const RunMemory& memory) {
    std::multimap<ProcessPlace, Thread> threads;
    for (UserNumber user = 0; user < memory.users(); ++user) {
        const std::uint32_t ended = memory.use(user).threads;
        for (std::uint32_t number = 1; number <= ended && number < run::kMaximumThreads; ++number) {
            const run::ThreadRecord& record = memory.thread(number, user);
            if (record.state != RecordState::ended) continue;
            Counts counts;
            std::ranges::copy(record.count, counts.begin());
            threads.emplace(ProcessPlace{user, record.process},
                            Thread{record.tid, text(record.comm, sizeof record.comm), counts});
        }
    }
    memory.for_each_used_page([&](std::uint32_t number) {
        const run::ThreadPage& page = memory.thread_page(number);
        const UserNumber user = memory.user_of_page(number);
        // Killed after its counts were copied and before the page was freed: the record counts.
        const bool has_record = page.record != 0 && memory.thread(page.record, user).state == RecordState::ended;
        if (page.state == RecordState::free || has_record) return;
        threads.emplace(ProcessPlace{user, page.process},
                        Thread{page.tid, text(page.comm, sizeof page.comm), counts_of_page(memory, number)});
    });
    return threads;
}

ordered_json to_json(const Counts& counts, std::uint32_t classes) {
    ordered_json object = ordered_json::object();
    for (const ClassRow& row : kClasses)
        if ((classes & engine::x86_64::bit(row.id)) != 0)
            object[std::string{row.name}] = counts[static_cast<std::size_t>(row.id)];
    return object;
}

/// `status` is as wait(2) gives it, -1 if unknown.
ordered_json exit_of(int status) {
    if (status == -1) return nullptr;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

// Everything here may have been written by programs: counts are bounded and numbers of records are checked where they
// are used as an index, but a program can lie about its own counts.
ordered_json counts_of(const RunResult& result) {
    const run::RunHeader& header = result.memory.header();
    const auto threads = threads_of(result.memory);
    Counts total{};
    ordered_json processes = ordered_json::array();
    const auto add_process = [&](const ProcessPlace& place) {
        const run::ProcessRecord& record = result.memory.process(place.second, place.first);
        const auto [first, last] = threads.equal_range(place);
        // A process that went on in another user's memory is listed there, unless threads of it ended before.
        if (record.state == RecordState::free || (record.state == RecordState::moved && first == last)) return;
        // The first process is the command; it may have been killed, but the broker waited for it.
        const run::ProcessRecord& command = result.memory.process(1);
        const bool is_command =
            &record == &command || (command.state == RecordState::moved && record.pid == command.pid);
        // Chance decides how far a thread that is left at the end of the run and has not had a turn has registered.
        const bool lists_unbegun = header.turns == 0 || is_command;
        ordered_json listed = ordered_json::array();
        for (auto entry = first; entry != last; ++entry) {
            const Thread& thread = entry->second;
            if (!lists_unbegun && thread.counts == Counts{}) continue;
            for (std::size_t i = 0; i < kCounters; ++i) total[i] += thread.counts[i];
            listed.push_back({{"tid", result.memory.shown_id(thread.tid)},
                              {"comm", thread.comm},
                              {"counts", to_json(thread.counts, header.counting)}});
        }
        if (!lists_unbegun && listed.empty()) return;
        processes.push_back({{"pid", result.memory.shown_id(record.pid)},
                             {"comm", text(record.comm, sizeof record.comm)},
                             {"exe", text(record.exe, sizeof record.exe)},
                             {"exit", exit_of(is_command ? result.status : record.exit_status)},
                             {"threads", listed}});
    };
    for (UserNumber user = 0; user < result.memory.users(); ++user) {
        const std::uint32_t used = result.memory.use(user).processes;
        for (std::uint32_t number = 1; number <= used && number < run::kMaximumProcesses; ++number)
            add_process({user, number});
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
                                         "no instruction class has this name", "choose from: " + names});
        }
        classes |= engine::x86_64::bit(row->id);
        if (comma == std::string_view::npos) return classes;
        rest.remove_prefix(comma + 1);
    }
}

}  // namespace anyperf::broker
