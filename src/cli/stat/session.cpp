// session.cpp: see session.h.
#include "cli/stat/session.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/stat/measured.h"
#include "cli/stat/tool_clocks.h"
#include "cli/waiting.h"

namespace anyperf::cli::stat {

namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

std::uint64_t milliseconds(std::int64_t count) {
    return static_cast<std::uint64_t>(count) * kMillisecond;
}

std::uint64_t nanoseconds(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

/// Every event and place is a descriptor. Done after the command was forked, which keeps the limit it was given.
void allow_many_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// One run, from its start to its end.
class Session {
  public:
    Session(const Plan& plan, const Options& options, SignalGate& gate, const OnInterval& on_interval)
        : plan_(plan), options_(options), gate_(gate), on_interval_(on_interval), watched_(plan.watched) {}

    Result<Run> run();

  private:
    Result<void> begin();
    Result<void> wait();
    Result<void> finish();
    Result<void> on_time();
    Result<void> print_interval(std::uint64_t now);
    Result<bool> over();
    bool take_signals();
    void stop_command();
    std::optional<std::uint64_t> next_deadline() const;
    Report base_report() const;

    const Plan& plan_;
    const Options& options_;
    SignalGate& gate_;
    const OnInterval& on_interval_;
    Watched watched_;
    std::optional<Command> command_;
    std::optional<Measured> measured_;
    Snapshot last_;
    Run run_;
    std::uint64_t start_ns_ = 0;
    std::uint64_t last_at_ns_ = 0;  ///< of the last reading: the start, or an interval's end
    std::uint64_t end_ns_ = 0;
    std::optional<std::uint64_t> enable_at_;
    std::optional<std::uint64_t> timeout_at_;
    std::optional<std::uint64_t> interval_at_;
    int intervals_ = 0;
    bool timed_out_ = false;
};

Result<Run> Session::run() {
    TRY(begin());
    TRY(wait());
    TRY(finish());
    return std::move(run_);
}

Result<void> Session::begin() {
    if (!options_.command.empty()) {
        auto command = Command::fork(options_.command, gate_, options_.run());
        if (!command) return std::unexpected(std::move(command).error());
        command_.emplace(std::move(*command));
    }
    allow_many_descriptors();
    auto measured = Measured::open(plan_, options_, command_ ? command_->pid() : 0);
    if (!measured) return std::unexpected(std::move(measured).error());
    measured_.emplace(std::move(*measured));
    start_ns_ = last_at_ns_ = now_ns();
    if (options_.delay_ms > 0)
        enable_at_ = start_ns_ + milliseconds(options_.delay_ms);
    else if (!plan_.of_command)
        TRY(measured_->enable());
    if (options_.timeout_ms > 0) timeout_at_ = start_ns_ + milliseconds(options_.timeout_ms);
    if (options_.interval_ms > 0) interval_at_ = start_ns_ + milliseconds(options_.interval_ms);
    return command_ ? command_->execute() : Result<void>{};
}

std::optional<std::uint64_t> Session::next_deadline() const {
    std::optional<std::uint64_t> next;
    for (const auto& at : {enable_at_, timeout_at_, interval_at_})
        if (at) next = std::min(next.value_or(*at), *at);
    return next;
}

Result<void> Session::wait() {
    while (!TRY(over())) {
        wait_for_something(gate_, watched_, next_deadline());
        if (take_signals()) break;
        TRY(on_time());
    }
    if (end_ns_ == 0) end_ns_ = now_ns();
    return {};
}

Result<bool> Session::over() {
    if (command_) {
        if (!TRY(command_->ended(run_.ending))) return false;
        end_ns_ = now_ns();
        return true;
    }
    if (timed_out_ || run_.all_printed) return true;
    return !plan_.watched.empty() && !watched_.any_alive();
}

/// True where a signal ends the counting. With a command, signals are the command's: the terminal gives it its own, and
/// what was sent to us alone is handed on, as if we were not there.
bool Session::take_signals() {
    while (const auto arrived = gate_.next()) {
        if (!command_) {
            run_.interrupted_by = arrived->number;
            return true;
        }
        if (!arrived->from_terminal) command_->send(arrived->number);
    }
    return false;
}

Result<void> Session::on_time() {
    const std::uint64_t now = now_ns();
    if (enable_at_ && now >= *enable_at_) {
        enable_at_.reset();
        TRY(measured_->enable());
    }
    if (interval_at_ && now >= *interval_at_) TRY(print_interval(now));
    if (timeout_at_ && now >= *timeout_at_) stop_command();
    return {};
}

void Session::stop_command() {
    timeout_at_.reset();
    timed_out_ = true;
    if (command_) command_->send(SIGTERM);
}

Result<void> Session::print_interval(std::uint64_t now) {
    // From the plan's start, not from now: what this interval was late, the next isn't.
    const std::uint64_t step = milliseconds(options_.interval_ms);
    interval_at_ = start_ns_ + ((now - start_ns_) / step + 1) * step;
    auto snapshot = TRY(measured_->read());
    Report report = base_report();
    report.interval_at_ns = now - start_ns_;
    report.wall_ns = now - std::exchange(last_at_ns_, now);
    report.lines = measured_->lines(last_, snapshot);
    fill_clocks(report);
    last_ = std::move(snapshot);
    on_interval_(report);
    if (++intervals_ == options_.interval_count) {
        interval_at_.reset();  // a command goes on to its end, as under perf
        run_.all_printed = true;
    }
    return {};
}

Report Session::base_report() const {
    Report report;
    report.command = options_.command;
    report.target = plan_.target_name;
    if (options_.in_user_space) {
        report.mode = "virtual";
        report.mode_reason = options_.virtual_because;
    }
    report.notes = measured_->notes();
    return report;
}

Result<void> Session::finish() {
    // Others go on after we have stopped to look; what they do from now on isn't asked for.
    if (!plan_.of_command) TRY(measured_->disable());
    auto snapshot = TRY(measured_->read());
    run_.report = base_report();
    run_.report.wall_ns = end_ns_ - last_at_ns_;
    run_.report.user_ns = nanoseconds(run_.ending.usage.ru_utime);
    run_.report.system_ns = nanoseconds(run_.ending.usage.ru_stime);
    if (timed_out_ && run_.ending.signal == SIGTERM) run_.ending.signal = run_.ending.exit_status = 0;  // our own doing
    if (command_) run_.report.exit_status = run_.ending.exit_status;
    run_.report.lines = measured_->lines(last_, snapshot);
    fill_clocks(run_.report);
    if (options_.interval_ms > 0) run_.report.interval_at_ns = end_ns_ - start_ns_;
    return {};
}

}  // namespace

Result<Run> run_once(const Plan& plan, const Options& options, SignalGate& gate, const OnInterval& on_interval) {
    return Session{plan, options, gate, on_interval}.run();
}

}  // namespace anyperf::cli::stat
