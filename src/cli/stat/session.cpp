// session.cpp: one measurement. The order of its steps matters:
//
//   1. fork the command, which waits before its exec;
//   2. raise this process's limit on descriptors: the command has already inherited the old one;
//   3. open the counters; a command's are enabled by its exec, others now;
//   4. let the command execute;
//   5. wait: for its end, for signals, for deadlines (delay, interval, timeout), whichever is next;
//   6. read the counters. This is after wait4(2), so the counts of the command are complete, and those of all children
//      that have ended.
#include "cli/stat/session.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/command/waiting.h"
#include "cli/stat/events/tool_events.h"
#include "cli/stat/events/usage_counts.h"
#include "cli/stat/open_counters.h"
#include "try.h"

namespace anyperf::cli::stat {

namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

std::uint64_t milliseconds(std::int64_t count) {
    return static_cast<std::uint64_t>(count) * kMillisecond;
}

std::uint64_t nanoseconds(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

/// Raises the soft limit to the hard limit, because every event needs a descriptor in every place.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// One measurement, from its start to its end. One loop (wait()) handles everything that may happen meanwhile. It
/// sleeps until the next deadline, a signal, the end of the command or of an awaited task, or a line from --control,
/// and then checks all of them. Nothing runs in a signal handler: signals are blocked and taken one by one
/// (BlockedSignals).
class Session {
  public:
    Session(const Plan& plan, const Options& options, BlockedSignals& signals, const Listener& listener)
        : plan_(plan), options_(options), signals_(signals), listener_(listener), awaited_(plan.awaited) {}

    Result<Measurement> run();

  private:
    Result<void> begin();
    Result<void> wait();
    Result<void> finish();
    Result<void> handle_deadlines();
    Result<void> handle_commands();
    Result<void> handle_command(const ControlLine& line);
    Result<void> print_interval(std::uint64_t now);
    Result<bool> is_over();
    bool handle_signals();
    void handle_timeout();
    std::optional<std::uint64_t> next_deadline() const;
    Report base_report() const;
    Report report_since(const Snapshot& before, const Snapshot& now, std::uint64_t wall_ns) const;
    /// Whether as many intervals as --interval-count asks for have been printed.
    bool intervals_done() const { return options_.interval_count > 0 && intervals_ >= options_.interval_count; }

    const Plan& plan_;
    const Options& options_;
    BlockedSignals& signals_;
    const Listener& listener_;
    AwaitedTasks awaited_;
    std::optional<Command> command_;
    std::optional<OpenCounters> counters_;
    std::uint64_t switches_before_ = 0;  ///< of the command's process, before its exec
    Snapshot last_snapshot_;             ///< empty before the first interval
    Measurement result_;
    std::uint64_t start_ns_ = 0;
    std::uint64_t last_read_ns_ = 0;  ///< time of the last reading: the start, or the end of an interval
    std::uint64_t end_ns_ = 0;
    // Deadlines, in the time of now_ns(). A deadline that was not asked for, or that has passed, is nullopt.
    std::optional<std::uint64_t> enable_at_;
    std::optional<std::uint64_t> timeout_at_;
    std::optional<std::uint64_t> interval_at_;
    int intervals_ = 0;
    bool timed_out_ = false;
};

Result<Measurement> Session::run() {
    TRY(begin());
    TRY(wait());
    TRY(finish());
    return std::move(result_);
}

// With -D the counters stay off until the deadline `enable_at_`, with a negative -D until --control enables them.
Result<void> Session::begin() {
    if (!options_.command.empty()) {
        auto command = Command::fork(options_.command, signals_, options_.hosting());
        if (!command) return std::unexpected(std::move(command).error());
        command_.emplace(std::move(*command));
    }
    raise_descriptor_limit();
    auto counters = OpenCounters::open(plan_, options_, command_ ? command_->pid() : 0);
    if (!counters) return std::unexpected(std::move(counters).error());
    counters_.emplace(std::move(*counters));
    start_ns_ = last_read_ns_ = now_ns();
    if (options_.delay_ms > 0)
        enable_at_ = start_ns_ + milliseconds(options_.delay_ms);
    else if (options_.delay_ms == 0 && !plan_.targets_command)
        TRY(counters_->enable());
    if (options_.timeout_ms > 0) timeout_at_ = start_ns_ + milliseconds(options_.timeout_ms);
    if (options_.interval_ms > 0) interval_at_ = start_ns_ + milliseconds(options_.interval_ms);
    if (command_) switches_before_ = context_switches_until_now(command_->pid());
    return command_ ? command_->execute() : Result<void>{};
}

/// The earliest deadline; nullopt if nothing has a deadline.
std::optional<std::uint64_t> Session::next_deadline() const {
    std::optional<std::uint64_t> next;
    for (const auto& at : {enable_at_, timeout_at_, interval_at_})
        if (at) next = std::min(next.value_or(*at), *at);
    return next;
}

Result<void> Session::wait() {
    while (!TRY(is_over())) {
        const int commands = listener_.control != nullptr ? listener_.control->fd() : -1;
        wait_for_wakeup(signals_, awaited_, next_deadline(), {commands});
        if (handle_signals()) break;
        if (commands >= 0) TRY(handle_commands());
        TRY(handle_deadlines());
    }
    if (end_ns_ == 0) end_ns_ = now_ns();
    return {};
}

/// Whether the measurement is over. With a command it is over when the command has ended. Without one it is over when
/// all awaited tasks have ended, after the timeout, or after the last interval of --interval-count.
Result<bool> Session::is_over() {
    if (command_) {
        if (!TRY(command_->try_wait(result_.exit_info))) return false;
        end_ns_ = now_ns();
        return true;
    }
    if (timed_out_ || intervals_done()) return true;
    return !plan_.awaited.empty() && !awaited_.any_alive();
}

/// Handles pending signals. True if one of them ends the counting, which is never so with a command: signals are then
/// for the command. It gets those of the terminal directly, and anyperf forwards those that were sent to anyperf alone.
bool Session::handle_signals() {
    while (const auto arrived = signals_.next()) {
        if (!command_) {
            result_.interrupted_by = arrived->number;
            return true;
        }
        if (ends_a_series(arrived->number)) result_.signal_during_run = arrived->number;
        if (!arrived->from_terminal) command_->send(arrived->number);
    }
    return false;
}

/// Obeys the lines that have arrived from --control.
Result<void> Session::handle_commands() {
    for (const auto& line : listener_.control->read_lines()) TRY(handle_command(parse_control_line(line)));
    return {};
}

Result<void> Session::handle_command(const ControlLine& line) {
    switch (line.command) {
        case ControlCommand::enable:
        case ControlCommand::disable: {
            const bool known = TRY(counters_->switch_events(line.event, line.command == ControlCommand::enable));
            if (!known) listener_.unknown_event(line.event);
            // Like perf, a switch ends the interval.
            if (options_.interval_ms > 0 && !intervals_done()) TRY(print_interval(now_ns()));
            break;
        }
        case ControlCommand::list_events: listener_.events_listed(counters_->event_names()); break;
        case ControlCommand::stop:
        case ControlCommand::snapshot:
        case ControlCommand::nothing: break;
    }
    if (line.acknowledged) listener_.control->acknowledge();
    return {};
}

Result<void> Session::handle_deadlines() {
    const std::uint64_t now = now_ns();
    if (enable_at_ && now >= *enable_at_) {
        enable_at_.reset();
        TRY(counters_->enable());
    }
    if (interval_at_ && now >= *interval_at_) TRY(print_interval(now));
    if (timeout_at_ && now >= *timeout_at_) handle_timeout();
    return {};
}

// --timeout asks a command to end (SIGTERM). Counting goes on until it has ended, so its last work is measured, too.
void Session::handle_timeout() {
    timeout_at_.reset();
    timed_out_ = true;
    if (command_) command_->send(SIGTERM);
}

Result<void> Session::print_interval(std::uint64_t now) {
    // Deadlines are multiples of the step from the start, so that a late interval does not delay those after it.
    const std::uint64_t step = milliseconds(options_.interval_ms);
    interval_at_ = start_ns_ + ((now - start_ns_) / step + 1) * step;
    auto snapshot = TRY(counters_->read());
    Report report = report_since(last_snapshot_, snapshot, now - std::exchange(last_read_ns_, now));
    report.interval_at_ns = now - start_ns_;
    last_snapshot_ = std::move(snapshot);
    listener_.interval(report);
    ++intervals_;
    if (intervals_done()) interval_at_.reset();  // a command still runs to its end, as under perf
    return {};
}

/// What the report of an interval and the final report have in common.
Report Session::base_report() const {
    Report report;
    report.command = options_.command;
    report.target = plan_.target_name;
    if (options_.in_user_space) {
        report.mode = "virtual";
        report.mode_reason = options_.virtual_reason;
    }
    report.notes = counters_->notes();
    report.metrics = plan_.metrics;
    return report;
}

/// The counts from `before` to `now`; an empty `before` is the start. The command's CPU times are 0 until it has ended,
/// and then those of its whole life.
Report Session::report_since(const Snapshot& before, const Snapshot& now, std::uint64_t wall_ns) const {
    Report report = base_report();
    report.wall_ns = wall_ns;
    report.user_ns = nanoseconds(result_.exit_info.usage.ru_utime);
    report.system_ns = nanoseconds(result_.exit_info.usage.ru_stime);
    if (command_ && end_ns_ != 0) report.exit_status = result_.exit_info.exit_status;
    report.lines = counters_->lines(before, now);
    fill_tool_events(report);
    if (options_.interval_ms == 0) fill_from_usage(report, plan_, options_, result_.exit_info.usage, switches_before_);
    return report;
}

Result<void> Session::finish() {
    // Tasks other than the command keep running; what they do from now on must not be counted.
    if (!plan_.targets_command) TRY(counters_->disable());
    // The final report counts from the start, also after intervals; the last interval gets a report of its own.
    const auto snapshot = TRY(counters_->read());
    // A command that --timeout has terminated has not failed.
    if (timed_out_ && result_.exit_info.signal == SIGTERM) result_.exit_info.signal = result_.exit_info.exit_status = 0;
    result_.report = report_since({}, snapshot, end_ns_ - start_ns_);
    result_.report.summary = options_.interval_ms > 0;
    if (options_.interval_ms == 0 || intervals_done()) return {};
    result_.last_interval = report_since(last_snapshot_, snapshot, end_ns_ - last_read_ns_);
    result_.last_interval->interval_at_ns = end_ns_ - start_ns_;
    return {};
}

}  // namespace

Result<Measurement> measure_once(const Plan& plan, const Options& options, BlockedSignals& signals,
                                 const Listener& listener) {
    return Session{plan, options, signals, listener}.run();
}

}  // namespace anyperf::cli::stat
