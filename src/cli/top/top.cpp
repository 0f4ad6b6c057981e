// top.cpp: `anyperf top`: the hottest functions of a command, of processes, or of the machine, while they run.
//
// Three parts work at the same time: a recorder in a process of its own (top/recorder.h), a thread that reads what it
// writes (top/live_profile.h), and the loop below, which shows it every few seconds and reads keys (top/view.h,
// top/terminal.h). Without a terminal, or with --stdio, a table is printed instead.
#include "cli/top/top.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command/command_words.h"
#include "cli/command/target_options.h"
#include "cli/command/waiting.h"
#include "cli/option_checks.h"
#include "cli/reading/sample_filters.h"
#include "cli/record/options.h"
#include "cli/recording.h"
#include "cli/top/live_profile.h"
#include "cli/top/recorder.h"
#include "cli/top/terminal.h"
#include "cli/top/view.h"
#include "try.h"
#include "unwind/unwinder.h"

namespace anyperf::cli {

namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kKeyWait = 100 * kMillisecond;  // an end of the recorder is noticed after that time at most
constexpr std::size_t kMostMessages = 64 << 10;         // bytes that are kept of what the command prints
constexpr std::size_t kStdioRows = 20;

/// Options of `record` that make no sense without a file, or whose letter means something else here.
constexpr std::array kNotHere{"--output",
                              "--compress",
                              "--compression-level",
                              "--max-size",
                              "--exact",
                              "--quiet",
                              "--verbose",
                              "--dry-run",
                              "--filter",
                              "--exclude-perf",
                              "--sample-cpu",
                              "--sample-identifier",
                              "--phys-data",
                              "--data-page-size",
                              "--code-page-size",
                              "--namespaces",
                              "--no-bpf-event",
                              "--delay",
                              "--control",
                              "--clockid",
                              "--data",
                              "--weight",
                              "--branch-any",
                              "--branch-filter",
                              "--switch-events",
                              "--overwrite",
                              "--switch-output",
                              "--switch-max-files",
                              "--switch-output-event",
                              "--timestamp-filename",
                              "--off-cpu",
                              "--threads",
                              "--transaction",
                              "--user-regs",
                              "--intr-regs",
                              "--stat",
                              "--no-samples",
                              "--all-cgroups",
                              "--aio"};

struct Options {
    record::Options recording;
    std::vector<CLI::Option*> forwarded;  ///< those of `record`
    std::vector<std::string> command;
    std::vector<std::string> keys{"comm", "dso", "symbol"};
    FilterOptions filters;
    double percent_limit = 0.0;
    bool sample_counts = false;  ///< -n
    bool periods = false;
    double delay = 2.0;
    std::size_t entries = kStdioRows;
    std::uint64_t iterations = 0;  ///< 0: no limit
    bool by_default = false;       ///< nothing was named, so the whole machine is meant
    bool zero = false, stdio = false, hide_kernel = false, hide_user = false;
};

/// What the user gave of the options of `record`, and the command: the recorder's arguments. The texts are passed on as
/// they were given, so that the recorder reads and checks them as `record` does.
std::vector<std::string> recorder_words(const Options& options) {
    std::vector<std::string> words;
    for (const CLI::Option* option : options.forwarded) {
        if (option->count() == 0) continue;
        const std::string name = option->get_single_name();
        const std::string dashed = (name.size() == 1 ? "-" : "--") + name;
        if (option->get_expected_min() == 0) {  // a flag
            words.push_back(dashed);
            continue;
        }
        for (const std::string& value : option->results()) {
            words.push_back(dashed);
            words.push_back(value);
        }
    }
    if (options.by_default) words.emplace_back("-a");
    if (!options.command.empty()) words.emplace_back("--");
    words.insert(words.end(), options.command.begin(), options.command.end());
    return words;
}

/// The last part of what the recorder and its command have printed.
class Messages {
  public:
    void add(std::string_view text) {
        all_ += text;
        if (all_.size() <= 2 * kMostMessages) return;
        all_.erase(0, all_.size() - kMostMessages);
        cut_ = true;
    }
    /// The last line, for the screen.
    std::string last_line() const {
        const std::string_view text = std::string_view{all_}.substr(0, all_.find_last_not_of('\n') + 1);
        return std::string{text.substr(text.rfind('\n') + 1)};
    }
    /// All of it for the user, after the screen is gone. The recorder's last line, how much it has written into the
    /// pipe, says nothing here.
    void print(Output& out) const {
        if (cut_) out.note("anyperf: the beginning of what the command has printed is not kept\n");
        std::string_view text = all_;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
            const std::string_view line = text.substr(0, end);
            if (!(line.starts_with("anyperf: ") && line.contains(" samples in standard output "))) out.note(line);
            text.remove_prefix(end);
        }
    }

  private:
    std::string all_;
    bool cut_ = false;
};

/// One `top` from its start to its end.
class Session {
  public:
    Session(const Options& options, top::Recorder recorder, BlockedSignals& signals, top::ViewOptions view,
            const analysis::ReadOptions& reading, std::optional<top::Terminal> terminal, Output& out)
        : options_(options),
          recorder_(std::move(recorder)),
          signals_(signals),
          terminal_(std::move(terminal)),
          out_(out),
          view_(std::move(view)),
          live_(recorder_.recording(), reading) {}

    Result<int> run();

  private:
    void update();
    bool handle_input();
    void draw();

    const Options& options_;
    top::Recorder recorder_;
    BlockedSignals& signals_;
    std::optional<top::Terminal> terminal_;
    Output& out_;
    top::View view_;
    Messages messages_;
    std::uint64_t tables_ = 0;
    top::LiveProfile live_;
};

/// Shows what there is now. Then the samples weigh less, so that the table follows what programs do now. No table is
/// printed while there is no sample.
void Session::update() {
    view_.show(live_.snapshot());
    options_.zero ? live_.forget() : live_.decay();
    if (terminal_) return;
    if (!view_.has_samples()) return;
    out_.print(view_.table(options_.entries));
    ++tables_;
    std::fflush(nullptr);  // a reader of a pipe wants each table when it is made
}

void Session::draw() {
    if (terminal_) terminal_->draw(view_.render(terminal_->width(), terminal_->height()));
}

/// Keys, signals and messages that have come. True: the user wants to end.
bool Session::handle_input() {
    bool quit = false;
    while (const auto arrived = signals_.next()) quit = quit || ends_a_series(arrived->number);
    if (const std::string text = recorder_.messages(); !text.empty()) {
        messages_.add(text);
        view_.say(messages_.last_line());
    }
    if (!terminal_) return quit;
    terminal_->adapt_to_size();
    while (const auto key = terminal_->next_key()) {
        const top::View::Wish wish = view_.press(*key);
        if (wish == top::View::Wish::quit) quit = true;
        if (wish == top::View::Wish::forget) live_.forget();
    }
    return quit;
}

// Waits for the first of four things: the time of the next update, a key, a message, a signal. The reader's thread
// wakes nobody, so its end is noticed after kKeyWait at most.
//
// Ctrl-C goes to the command and to the recorder, too, so both may have ended when the signal is read here. So the end
// of the recording is looked up before the signals are: an end by Ctrl-C is then the user's and not the command's.
//
// The screen stays when the command has ended, so that its profile can be read; a series of tables ends with it. The
// terminal is given back before anything is printed, and before the recorder is waited for, which may take a while.
Result<int> Session::run() {
    while (!live_.opened()) wait_for_wakeup(signals_, AwaitedTasks{{}}, now_ns() + kMillisecond);
    recorder_.release_recording();
    std::uint64_t next = now_ns() + view_.delay_ms() * kMillisecond;
    bool ended = false;
    while (options_.iterations == 0 || tables_ < options_.iterations) {
        draw();
        const int keys = terminal_ ? STDIN_FILENO : -1;
        wait_for_wakeup(signals_, AwaitedTasks{{}}, std::min(next, now_ns() + kKeyWait),
                        {keys, recorder_.messages_fd()});
        const bool over = !ended && live_.ended();
        if (handle_input()) break;
        if (over || (now_ns() >= next && !ended)) {
            update();
            next = now_ns() + view_.delay_ms() * kMillisecond;
        }
        if (over) view_.mark_ended();
        ended = ended || over;
        if (ended && !terminal_) break;
    }
    terminal_.reset();
    if (!ended) recorder_.stop();
    const int status = recorder_.wait();
    messages_.add(recorder_.messages());
    messages_.print(out_);
    if (!ended) return 0;  // it was ended here
    if (live_.failure() && status == 0) return std::unexpected(*live_.failure());
    return status;
}

Result<int> run_top(Options& options, Output& out) {
    const bool screen =
        !options.stdio && options.iterations == 0 && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
    TRY(record::check(options.recording));
    auto keys = TRY(profile::keys_named(options.keys));
    top::ViewOptions view {
        .keys = std::move(keys), .children = options.recording.sampling.call_graph != recording::CallGraph::none,
        .hide_kernel = options.hide_kernel, .hide_user = options.hide_user, .sample_counts = options.sample_counts,
        .periods = options.periods, .percent_limit = options.percent_limit, .filter = TRY(filters_of(options.filters))
        .samples, .delay_ms = static_cast<std::uint64_t>(options.delay * 1000.0), .paths = default_symbol_paths()
    };
    const auto wants = [&](profile::Key key) { return std::ranges::find(view.keys, key) != view.keys.end(); };
    unwind::Unwinder unwinder{default_symbol_paths()};
    const analysis::ReadOptions reading{.call_chains = view.children,
                                        .pid = true,
                                        .tid = wants(profile::Key::tid),
                                        .cpu = wants(profile::Key::cpu),
                                        .parts = profile::parts_of(view.keys),
                                        .source = {.lines = wants(profile::Key::source_line), .inlines = false},
                                        .paths = default_symbol_paths(),
                                        .unwinder = &unwinder};
    std::optional<top::Terminal> terminal;
    if (screen) terminal.emplace(TRY(top::Terminal::open()));
    auto signals = TRY(BlockedSignals::block());
    auto recorder = TRY(top::Recorder::start(recorder_words(options), screen));
    return Session{options, std::move(recorder), signals, std::move(view), reading, std::move(terminal), out}.run();
}

void declare_options(CLI::App& verb, Options& options) {
    record::declare_options(verb, options.recording);
    for (const char* name : kNotHere) verb.remove_option(verb.get_option(name));
    const CLI::Option* help = verb.get_help_ptr();
    for (CLI::Option* option : verb.get_options())
        if (option != help) options.forwarded.push_back(option);
    verb.footer(
        "anyperf top [OPTIONS]                    the whole machine\n"
        "anyperf top [OPTIONS] {-p PIDS | -t TIDS | -a | -C CPUS}\n"
        "anyperf top [OPTIONS] [--] COMMAND...");
    verb.add_option("-d,--delay", options.delay, "SECONDS: between two updates (default: 2)")
        ->type_name("")
        ->check(CLI::Range(0.01, 3600.0));
    verb.add_option("-s,--sort", options.keys, "KEYS: comm, pid, tid, cpu, dso, symbol, srcline")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("");
    verb.add_flag("-z,--zero", options.zero, "forget older samples at each update");
    verb.add_flag("-K,--hide_kernel_symbols", options.hide_kernel, "hide functions of the kernel");
    verb.add_flag("-U,--hide_user_symbols", options.hide_user, "hide functions of programs");
    verb.add_option("-E,--entries", options.entries, "N: rows of a table that is printed (default: 20)")
        ->type_name("")
        ->transform(whole_number_from(std::size_t{1}, std::size_t{1'000'000}));
    verb.add_option("--iterations", options.iterations, "N: print N tables, then end")
        ->type_name("")
        ->transform(whole_number_from(std::uint64_t{1}, ~std::uint64_t{0} >> 1));
    verb.add_flag("-n,--show-nr-samples", options.sample_counts, "show the number of samples");
    verb.add_flag("--show-total-period", options.periods, "show the weight of each row");
    verb.add_option("--percent-limit", options.percent_limit, "PERCENT: leave out rows with a smaller share")
        ->check(check_percent)
        ->type_name("");
    const auto add_names = [&](const char* names, std::vector<std::string>& to, const char* text) {
        verb.add_option(names, to, text)->delimiter(',')->allow_extra_args(false)->type_name("");
    };
    add_names("--comms", options.filters.comms, "COMM,…: only samples of these commands");
    add_names("--dsos", options.filters.dsos, "FILE,…: only samples in these files");
    add_names("--symbols", options.filters.symbols, "SYMBOL,…: only samples in these functions");
    verb.add_flag("--stdio", options.stdio, "print tables instead of using the terminal");
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    declare_options(verb, *options);
    return [options, &verb](Output& out) -> Result<int> {
        options->command = TRY(command_words(verb));
        options->recording.command = options->command;
        record::Options& recording = options->recording;
        // Without a target that is the whole machine, as for `perf top`.
        options->by_default = recording.command.empty() && recording.pids.empty() && recording.tids.empty() &&
                              !recording.is_cpu_wide() && recording.cpu_list.empty() && recording.user.empty();
        if (options->by_default) recording.system_wide = true;
        return run_top(*options, out);
    };
}

}  // namespace

constinit const Verb kTop{"top", "show the hottest functions while programs run", declare};

}  // namespace anyperf::cli
