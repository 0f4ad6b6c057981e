// session.cpp: one recording. The order of its steps matters:
//
//   1. fork the command, which waits before its exec;
//   2. open the events and map their rings; a command's are enabled by its exec;
//   3. begin the file, with records of what exists already;
//   4. let the command execute;
//   5. write what the rings have, whenever one is filled to its watermark, and at least every kLongestWait;
//   6. at the end of the command, of the awaited tasks, or by a signal: stop the events, and write the rest.
//
// The reasons:
// - Events are opened on the forked child, which already has the pid of the command. Its exec enables them
//   (enable_on_exec), so nothing of anyperf is recorded.
// - Records of what exists are made after the events were opened. A map that appears in between is recorded twice, and
//   none is missed.
// - The file is created before the fork, so that no command is started if the file cannot be written.
// - If the file cannot be written later on, the recording ends and the command goes on: it may have run for hours.
#include "cli/record/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "abi/attr_flags.h"
#include "abi/describe.h"
#include "cli/command/control_channel.h"
#include "cli/record/hosted_rings.h"
#include "cli/record/switch_events.h"
#include "cli/record/targets.h"
#include "perfdata/sample_layout.h"
#include "perfdata/writer/byte_writer.h"
#include "perfdata/writer/file_writer.h"
#include "recording/drain.h"
#include "recording/drain_threads.h"
#include "recording/exact_events.h"
#include "recording/exact_profile.h"
#include "recording/existing/cgroups.h"
#include "recording/existing/processes.h"
#include "recording/machine_facts.h"
#include "recording/merged/off_cpu.h"
#include "recording/merged/unwound_samples.h"
#include "recording/open_set.h"
#include "recording/parallel_drain.h"
#include "recording/tracing_data.h"
#include "try.h"

namespace anyperf::cli::record {

namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kLongestWait = 100 * kMillisecond;
constexpr std::uint64_t kLeastNoted = 256 << 10;                 // with --threads and --max-size
constexpr std::size_t kExactPiece = 256 << 10;                   // bytes of samples that are compressed at a time
constexpr std::uint64_t kFirstExactId = std::uint64_t{1} << 62;  // above all ids of the run's events

/// Every event needs a descriptor for each CPU and thread.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// The words of this process's own command line.
std::vector<std::string> own_command_line() {
    std::ifstream file{"/proc/self/cmdline", std::ios::binary};
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    return words;
}

/// The state of one recording. Its members are in the order in which they are created.
class Session {
  public:
    Session(Plan& plan, const Options& options, BlockedSignals& signals, Output& output)
        : plan_(plan),
          options_(options),
          signals_(signals),
          output_(output),
          files_(options.output, options.most_files),
          awaited_(options.pid_numbers.empty() ? options.tid_numbers : options.pid_numbers),
          rings_(plan.hosted ? hosted_rings(*plan.hosted) : recording::system_rings()),
          targets_(plan, options, rings_->kernel()) {}

    Result<Recorded> run();

  private:
    Result<void> begin();
    Result<void> learn_facts();
    Result<void> begin_file();
    void unwind_stacks();
    void note_events() const;
    Result<void> take_priority() const;
    Result<void> check_switches_are_seen() const;
    void put_existing(bool again);
    void put_existing_processes(const recording::SynthesisOptions& options, const recording::RecordSink& sink);
    Result<void> open_file();
    Result<void> start_threads();
    std::uint64_t data_bytes() const { return writer_->data_bytes() + (parallel_ ? parallel_->data_bytes() : 0); }
    Result<void> end_file();
    bool is_time_to_switch() const;
    void switch_file();
    void take_snapshot();
    Result<void> wait();
    Result<bool> is_over();
    bool handle_signals();
    void handle_commands();
    void handle_command(const ControlLine& line);
    void drain();
    void end_if_full(const Result<void>& written);
    void drain_rest();
    bool put_exact_counts();
    void put_losses();
    void finish();
    perfdata::Facts facts() const;
    void note(const std::string& text) const {
        if (!options_.quiet) output_.note("anyperf: " + text + "\n");
    }

    Plan& plan_;
    const Options& options_;
    BlockedSignals& signals_;
    Output& output_;
    OutputFiles files_;
    AwaitedTasks awaited_;
    std::unique_ptr<recording::RingSource> rings_;
    Targets targets_;
    std::optional<perfdata::FileWriter> writer_;
    std::optional<Command> command_;
    std::optional<recording::OpenSet> events_;
    std::optional<SwitchEvents> switch_events_;         ///< with --switch-output-event
    std::optional<recording::UnwoundSamples> unwound_;  // if the file gets callers in place of copied stacks
    std::optional<recording::OffCpuTimes> off_cpu_;     // with --off-cpu
    std::optional<recording::Drain> drain_;
    std::unique_ptr<recording::ParallelDrain> parallel_;  // with --threads: `drain_` has what is no ring's
    perfdata::Facts facts_;
    Recorded result_;
    std::optional<ControlChannel> control_;
    std::optional<std::uint64_t> enable_at_;
    std::uint64_t switch_at_ = 0;       ///< with --switch-output=TIME
    std::uint64_t existing_bytes_ = 0;  ///< bytes of the records that put_existing() wrote to this file
    bool switch_wanted_ = false;        ///< by a signal
    std::uint64_t samples_of_other_files_ = 0;
    bool stopped_ = false;  ///< nothing more is recorded, while the command goes on
};

Result<Recorded> Session::run() {
    TRY(begin());
    TRY(wait());
    finish();
    return std::move(result_);
}

Result<void> Session::begin() {
    if (!options_.control.empty()) control_.emplace(TRY(ControlChannel::open(options_.control)));
    TRY(open_file());
    if (options_.to_pipe()) ::dup2(STDERR_FILENO, STDOUT_FILENO);  // the command's output must not be in the recording
    if (!options_.command.empty()) {
        auto* const hosting = plan_.hosted ? &plan_.hosted->hosting() : nullptr;
        command_.emplace(TRY(Command::fork(options_.command, signals_, hosting)));
    }
    if (options_.realtime_priority != 0) TRY(take_priority());
    raise_descriptor_limit();
    auto request = TRY(targets_.request(command_ ? command_->pid() : -1));
    if (!plan_.switch_groups.empty())
        switch_events_.emplace(
            TRY(SwitchEvents::open(*rings_, request, plan_.switch_groups, options_.sampling.enable_on_exec)));
    events_.emplace(TRY(recording::OpenSet::open(*rings_, std::move(request))));
    for (const auto& text : events_->notes()) note(text);
    if (options_.verbose) note_events();
    TRY(learn_facts());
    TRY(check_switches_are_seen());
    TRY(begin_file());
    put_existing(false);
    existing_bytes_ = writer_->data_bytes();
    if (options_.delay_ms > 0)
        enable_at_ = now_ns() + static_cast<std::uint64_t>(options_.delay_ms) * kMillisecond;
    else if (options_.delay_ms != kDelayForever && !options_.sampling.enable_on_exec)
        events_->enable();
    return command_ ? command_->execute() : Result<void>{};
}

/// -r. The command was forked before, and keeps its priority.
Result<void> Session::take_priority() const {
    sched_param wanted{};
    wanted.sched_priority = static_cast<int>(options_.realtime_priority);
    if (::sched_setscheduler(0, SCHED_FIFO, &wanted) == 0) return {};
    return std::unexpected(Error{fmt::format("cannot take the real-time priority {}", options_.realtime_priority),
                                 std::strerror(errno), "record as root, or raise RLIMIT_RTPRIO (ulimit -r)"});
}

/// The fields of the attrs, as `anyperf encode` names them.
void Session::note_events() const {
    for (const auto& event : events_->infos()) {
        std::string fields;
        for (const abi::DescribedField& field : abi::describe(event.attr, false))
            fields += fmt::format(", {} {}", field.name,
                                  field.meaning.empty() ? fmt::format("{:#x}", field.value) : field.meaning);
        output_.note(fmt::format("anyperf: {}: opened {} times{}\n", event.name, event.ids.size(), fields));
    }
}

/// The facts that are known before the first sample. In a run they are those of the presented machine. With -k they
/// have the same moment on that clock and on the wall clock, so that readers can convert times.
Result<void> Session::learn_facts() {
    const auto machine = plan_.hosted ? host::Root{"/", plan_.hosted->hosting().machine_files(false)} : host::Root{};
    facts_ = recording::machine_facts(machine, own_command_line());
    facts_.version = "anyperf " ANYPERF_VERSION;
    facts_.events = events_->infos();
    if (plan_.exact)
        std::ranges::copy(recording::exact_events(kFirstExactId), std::inserter(facts_.events, facts_.events.begin()));
    if (!options_.sampling.keeps_stacks) unwind_stacks();
    facts_.tracing_data = TRY(recording::tracing_data(machine, events_->events()));
    facts_.directory_version = options_.threads.empty() ? 0 : 1;
    facts_.branch_stack = options_.sampling.branch_filter != 0;
    facts_.compression_level = static_cast<std::uint32_t>(options_.compression_level);
    for (std::size_t i = 0; const auto& group : plan_.groups) {
        const auto members = static_cast<std::uint32_t>(group.events.size());
        if (members > 1) facts_.groups.push_back({group.name, static_cast<std::uint32_t>(i), members});
        i += members;
    }
    if (options_.sampling.clock) {
        timespec resolution{}, now{}, wall{};
        ::clock_getres(*options_.sampling.clock, &resolution);
        ::clock_gettime(*options_.sampling.clock, &now);
        ::clock_gettime(CLOCK_REALTIME, &wall);
        const auto ns = [](const timespec& time) {
            return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
        };
        facts_.clock_resolution_ns = ns(resolution);
        facts_.clock_id = static_cast<std::uint32_t>(*options_.sampling.clock);
        facts_.clock_ns = ns(now);
        facts_.wall_clock_ns = ns(wall);
    }
    return {};
}

Result<void> Session::begin_file() {
    TRY(writer_->begin(facts_));
    drain_.emplace(*writer_, facts_.events.front().attr);
    if (unwound_) drain_->unwind_with(*unwound_);
    if (options_.off_cpu) drain_->join_switches_with(off_cpu_.emplace(facts_.events, options_.switch_events));
    // Samples of overwritten rings and exact counts are written at the end, and are older than the records before them.
    if (plan_.exact || options_.overwrite) drain_->leave_rounds_open();
    if (!options_.threads.empty()) TRY(start_threads());
    if (options_.switch_mode.switches()) drain_->note_processes();
    if (options_.switch_mode.ns != 0) switch_at_ = now_ns() + options_.switch_mode.ns;
    return {};
}

Result<void> Session::start_threads() {
    drain_->leave_rounds_open();
    std::set<int> cpus;
    for (const auto& place : events_->ring_places()) cpus.insert(place.cpu);
    const std::vector<int> recorded{cpus.begin(), cpus.end()};
    recording::ParallelDrain::Options options;
    options.directory = options_.output;
    options.threads = TRY(recording::drain_threads(options_.threads, recorded, host::Root{}));
    if (options_.compressed) options.compression = options_.compression_level;
    if (options_.largest_bytes != 0) options.noted_bytes = std::max(options_.largest_bytes / 64, kLeastNoted);
    parallel_ = TRY(recording::ParallelDrain::start(*events_, std::move(options)));
    return {};
}

/// If events copy stacks, the file gets the callers instead, and its attrs say so.
void Session::unwind_stacks() {
    const auto copies = [](const perfdata::EventInfo& event) { return recording::copies_stacks(event.attr); };
    if (std::ranges::none_of(facts_.events, copies)) return;
    unwound_.emplace(facts_.events);
    for (auto& event : facts_.events) event.attr = recording::unwound(event.attr);
}

/// Threads are switched in kernel mode. If the user may not see that mode, the event was opened without it
/// (OpenSet::open()) and never happens.
Result<void> Session::check_switches_are_seen() const {
    constexpr std::uint64_t kHidden = abi::flag("exclude_kernel");
    for (const auto& event : facts_.events)
        if (event.name.starts_with(recording::kOffCpuEvent) && (event.attr.flags & kHidden) != 0)
            return std::unexpected(Error{"cannot record --off-cpu",
                                         "threads are switched in kernel mode, which kernel.perf_event_paranoid hides",
                                         "sysctl kernel.perf_event_paranoid=1, or record as root"});
    return {};
}

/// Writes records of what existed before the events: tasks, and the kernel. `again`: the output was switched, and the
/// new file needs these records, too.
void Session::put_existing(bool again) {
    recording::SynthesisOptions options{
        .trailer_bytes = perfdata::SampleLayout{facts_.events.front().attr}.trailer_size(),
        .data_maps = wants_data_maps(options_.sampling)};
    if (plan_.hosted) options.shown = [&run = plan_.hosted->hosting()](pid_t id) { return run.shown_id(id); };
    const auto sink = [this, again](perfdata::Bytes record) {
        [[maybe_unused]] const auto put = again ? drain_->put_again(record) : drain_->put(record);
    };
    const bool sees_kernel = std::ranges::any_of(facts_.events, [](const perfdata::EventInfo& event) {
        return (event.attr.flags & abi::flag("exclude_kernel")) == 0;
    });
    if (sees_kernel && !put_kernel(host::Root{}, options, sink) && !again)
        note("the kernel hides its addresses (kernel.kptr_restrict), so its functions will have no names");
    if (options_.sampling.cgroups) put_cgroups(host::Root{}, options, sink);
    // A hosted run writes records about its command itself.
    if (plan_.hosted && !again) return;
    if (options_.targets_command() && !again) return put_name(host::Root{}, command_->pid(), options, sink);
    put_existing_processes(options, sink);
}

void Session::put_existing_processes(const recording::SynthesisOptions& options, const recording::RecordSink& sink) {
    const host::Root root;
    if (options_.is_cpu_wide()) return put_all_processes(root, options, sink);
    if (options_.targets_command()) put_process(root, command_->pid(), options, sink);
    for (const pid_t process : options_.pid_numbers) put_process(root, process, options, sink);
    for (const pid_t thread : options_.tid_numbers)
        put_process(root, recording::process_of(root, thread), options, sink);
    for (const std::uint32_t process : drain_->processes()) {
        const auto id = static_cast<pid_t>(process);
        put_process(root, plan_.hosted ? plan_.hosted->hosting().kernel_id(id) : id, options, sink);
    }
}

Result<void> Session::open_file() {
    std::string path = options_.output;
    if (!options_.threads.empty()) {
        // Readable by its owner only, as files are (FileWriter::create()).
        if (::mkdir(path.c_str(), 0700) != 0)
            return std::unexpected(Error{"cannot make the directory " + path, std::strerror(errno),
                                         "name another one with -o, or remove what has the name"});
        path += "/data";
    }
    writer_.emplace(TRY(perfdata::FileWriter::create(path)));
    if (options_.compressed) writer_->compress(options_.compression_level);
    return {};
}

/// Finishes the file, and with --switch-output or --timestamp-filename gives it its own name.
Result<void> Session::end_file() {
    result_.samples = drain_->samples() - samples_of_other_files_;
    samples_of_other_files_ = drain_->samples();
    TRY(writer_->finish(facts()));
    if (options_.switch_mode.switches() || options_.timestamp_file) result_.file = TRY(files_.keep());
    return {};
}

bool Session::is_time_to_switch() const {
    const SwitchMode& mode = options_.switch_mode;
    if (stopped_) return false;
    return switch_wanted_ || (mode.bytes != 0 && writer_->data_bytes() - existing_bytes_ >= mode.bytes) ||
           (mode.ns != 0 && now_ns() >= switch_at_);
}

/// Goes on in another file, which begins with records of what exists now. A failure ends the recording, not the
/// command.
void Session::switch_file() {
    switch_wanted_ = false;
    switch_at_ = now_ns() + options_.switch_mode.ns;
    take_snapshot();
    drain();  // the names and maps that the snapshot needs
    auto ended = end_file();
    if (ended) {
        note(fmt::format("{} samples in {}", result_.samples, result_.file));
        ended = open_file();
    }
    if (ended) ended = writer_->begin(facts_);
    if (ended) {
        drain_->begin_file();
        put_existing(true);
        existing_bytes_ = writer_->data_bytes();
        return;
    }
    result_.failure = ended.error();
    stopped_ = true;
    events_->disable();
}

/// Writes the contents of the rings that are overwritten.
void Session::take_snapshot() {
    for (const auto& records : events_->take_overwritten()) [[maybe_unused]]
        const auto put = drain_->put_all(records);
}

/// Writes records until the recording is over. It sleeps until a ring is filled to its watermark, a signal comes or a
/// task ends. kLongestWait bounds each sleep: rings of rare events never reach the watermark, and the end of an awaited
/// process may send no signal.
Result<void> Session::wait() {
    while (!TRY(is_over())) {
        const std::uint64_t now = now_ns();
        std::uint64_t until = now + kLongestWait;
        if (enable_at_) until = std::min(until, std::max(now, *enable_at_));
        if (options_.switch_mode.ns != 0) until = std::min(until, std::max(now, switch_at_));
        const int full = parallel_ ? parallel_->wake_fd() : rings_->wake_fd();
        wait_for_wakeup(signals_, awaited_, until, {full, control_ ? control_->fd() : -1});
        parallel_ ? parallel_->clear_wake() : rings_->clear_wake();
        if (enable_at_ && now_ns() >= *enable_at_) {
            enable_at_.reset();
            if (!stopped_) events_->enable();
        }
        if (control_) handle_commands();
        drain();
        if (switch_events_ && switch_events_->take_happened()) switch_wanted_ = true;
        if (handle_signals()) break;
        if (is_time_to_switch()) switch_file();
    }
    return {};
}

/// Whether the recording is over: the command, or all awaited tasks, have ended, or nothing more can be written.
Result<bool> Session::is_over() {
    if (command_) return command_->try_wait(result_.exit_info);
    if (stopped_) return true;
    const bool awaits = !options_.pid_numbers.empty() || !options_.tid_numbers.empty();
    return awaits && !awaited_.any_alive();
}

/// As in stat, a signal goes to the command if there is one, and ends the recording if not. SIGUSR2 switches the output
/// if --switch-output waits for it. True: the recording is over.
bool Session::handle_signals() {
    while (const auto arrived = signals_.next()) {
        if (arrived->number == SIGUSR2 && options_.switch_mode.on_signal) {
            switch_wanted_ = true;
            continue;
        }
        if (!command_) {
            result_.interrupted_by = arrived->number;
            return true;
        }
        if (!arrived->from_terminal) command_->send(arrived->number);
    }
    return false;
}

void Session::handle_commands() {
    for (const auto& line : control_->read_lines()) {
        const ControlLine parsed = parse_control_line(line);
        handle_command(parsed);
        const bool switched = parsed.command == ControlCommand::snapshot && options_.switch_mode.on_signal;
        if (parsed.acknowledged || switched) control_->acknowledge();
    }
}

/// The commands of perf-record(1), "--control". After `stop` the recorded command goes on.
void Session::handle_command(const ControlLine& line) {
    const bool on = line.command == ControlCommand::enable;
    switch (line.command) {
        case ControlCommand::enable:
        case ControlCommand::disable:
            if (stopped_) break;
            enable_at_.reset();
            if (line.event.empty())
                on ? events_->enable() : events_->disable();
            else if (!events_->switch_events(line.event, on))
                note("--control: there is no event " + line.event);
            break;
        case ControlCommand::list_events:
            for (const auto& group : plan_.groups)
                for (const auto& event : group.events) output_.print(event.name + "\n");
            std::fflush(nullptr);  // before the acknowledgement: then the other program may read the list
            break;
        case ControlCommand::stop:
            if (!std::exchange(stopped_, true)) events_->disable();
            break;
        case ControlCommand::snapshot:
            if (options_.switch_mode.on_signal && !stopped_) switch_file();
            break;
        case ControlCommand::nothing: break;
    }
}

/// Writes the contents of the rings, unless threads do.
void Session::drain() {
    if (!parallel_) return end_if_full(drain_->round(events_->rings()));
    const auto failure = parallel_->failure();
    end_if_full(failure ? Result<void>{std::unexpected(*failure)} : Result<void>{});
}

/// The same after the events were stopped, to the end.
void Session::drain_rest() {
    if (!parallel_) return end_if_full(drain_->rest(events_->rings()));
    parallel_->stop();
    parallel_->add_counts_to(*drain_);
    writer_->count_elsewhere(parallel_->data_bytes(), parallel_->plain_bytes());
}

/// A full disk, or --max-size, ends the recording but not the command.
void Session::end_if_full(const Result<void>& written) {
    if (stopped_) return;
    const bool is_large = options_.largest_bytes != 0 && data_bytes() >= options_.largest_bytes;
    if (written && !is_large) return;
    stopped_ = true;
    events_->disable();
    if (!written)
        note(fmt::format("{}: {}; the recording ends here", written.error().what, written.error().cause));
    else
        note("the file has reached --max-size, and the recording ends here");
}

perfdata::Facts Session::facts() const {
    perfdata::Facts facts = facts_;
    facts.build_ids = drain_->files().build_ids();
    facts.first_ns = drain_->first_time();
    facts.last_ns = drain_->last_time();
    return facts;
}

/// Writes what the programs have counted, as samples. They are in the order of time, but older than the records that
/// are in the file already. False: some were not counted.
bool Session::put_exact_counts() {
    const auto read = [this](std::uint64_t offset, std::span<std::byte> to) {
        return plan_.hosted->hosting().read_memory(offset, to);
    };
    const auto profile = recording::read_exact_profile(read, plan_.hosted->hosting().exact_units());
    const auto put = [this](const std::vector<recording::ExactCount>& counts, const perfdata::EventInfo& event) {
        perfdata::ByteWriter records;
        for (const auto& count : counts) {
            records.bytes(recording::exact_sample(count, event));
            if (records.size() < kExactPiece && &count != &counts.back()) continue;
            if (!drain_->put_all(records.take())) return;
            records = {};
        }
    };
    put(profile.instructions, facts_.events[0]);
    put(profile.calls, facts_.events[1]);
    return !profile.incomplete;
}

/// A LOST_SAMPLES record with all losses, as those of perf: records that met a locked ring are in no LOST record.
void Session::put_losses() {
    perfdata::RecordWriter record{perfdata::RecordType::lost_samples, 0};
    record.u64(result_.lost).zeros(perfdata::SampleLayout{facts_.events.front().attr}.trailer_size());
    [[maybe_unused]] const auto put = drain_->put_again(record.finish());
}

/// Stops the events before the last round, so that this round ends. The kernel counts each lost sample twice, in LOST
/// records and for its event (PERF_FORMAT_LOST). So the two numbers are not added, and the larger one is reported.
void Session::finish() {
    events_->disable();
    take_snapshot();
    drain_rest();
    const bool complete = !plan_.exact || put_exact_counts();
    result_.lost = std::max(drain_->lost(), events_->lost());
    result_.locked_out = std::min(rings_->locked_out(), result_.lost);
    if (result_.locked_out != 0) put_losses();
    if (!result_.failure) {
        if (const auto finished = end_file(); !finished) result_.failure = finished.error();
    }
    if (parallel_ && !result_.failure) result_.failure = parallel_->failure();
    if (!complete && !result_.failure)
        result_.failure = Error{"the counts are not complete", "a process ran more code than there is room for", ""};
    result_.data_bytes = data_bytes();
    result_.dropped_bytes = writer_->dropped_bytes() + (parallel_ ? parallel_->dropped_bytes() : 0);
}

}  // namespace

Result<Recorded> record_once(Plan& plan, const Options& options, BlockedSignals& signals, Output& output) {
    return Session{plan, options, signals, output}.run();
}

}  // namespace anyperf::cli::record
