// options.cpp: the options as perf-record(1) has them. CLI11 reads words. check() turns them into numbers and refuses
// impossible combinations before the command is started.
#include "cli/record/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <ctime>
#include <ranges>
#include <string_view>

#include "abi/branch_types.h"
#include "cli/command/control_channel.h"
#include "cli/command/target_options.h"
#include "cli/option_checks.h"
#include "cli/record/registers.h"
#include "cli/record/user_processes.h"
#include "cli/recording.h"
#include "host/hardware/cpus.h"
#include "host/kernel/sysctl.h"
#include "try.h"

namespace anyperf::cli::record {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint32_t kRawStack = 8192;  // perf's default

/// -F: a number, or max.
Result<void> parse_frequency(Options& options) {
    if (options.frequency.empty()) return {};
    const auto most = host::kernel_setting(host::Root{}, "perf_event_max_sample_rate");
    const bool wants_most = options.frequency == "max";
    if (wants_most && !most)
        return std::unexpected(
            bad_option("-F max", "the limit cannot be read (kernel.perf_event_max_sample_rate)", "give a number"));
    const std::uint64_t value =
        wants_most && most ? static_cast<std::uint64_t>(*most) : whole_number(options.frequency).value_or(0);
    if (value == 0)
        return std::unexpected(bad_option("-F " + options.frequency, "it is not a number of samples a second",
                                          "give a number above 0, or max"));
    options.sampling.frequency = value;
    return {};
}

struct CallGraphName {
    std::string_view name;
    recording::CallGraph value;
};
constexpr std::array kCallGraphs{
    CallGraphName{"no", recording::CallGraph::none},
    CallGraphName{"fp", recording::CallGraph::frame_pointers},
    CallGraphName{"exact", recording::CallGraph::exact},
    CallGraphName{"dwarf", recording::CallGraph::stacks},
    CallGraphName{"lbr", recording::CallGraph::last_branches},
};

/// Writes copied stacks to the file, compressed: they are nearly the same from sample to sample, so zstd reduces them
/// to a fiftieth, faster than a disk writes them.
void keep_stacks(Options& options) {
    options.sampling.keeps_stacks = true;
    options.compressed |= options.sampling.call_graph == recording::CallGraph::stacks;
    if (!options.sampling.stack_bytes_are_wanted) options.sampling.stack_bytes = kRawStack;
}

/// --call-graph exact|fp|dwarf[,SIZE][,raw]|lbr|no.
Result<void> parse_call_graph(Options& options) {
    options.sampling.call_graph =
        options.frame_pointers ? recording::CallGraph::frame_pointers : recording::CallGraph::none;
    if (options.call_graph.empty() && !options.frame_pointers && options.python) options.call_graph = "exact";
    if (options.call_graph.empty()) return {};
    const std::vector<std::string_view> words = split_at_commas(options.call_graph);
    const auto row = std::ranges::find(kCallGraphs, words.front(), &CallGraphName::name);
    const auto refuse = [&](std::string_view cause) {
        return std::unexpected(bad_option("--call-graph " + options.call_graph, cause,
                                          "give exact, fp, dwarf, dwarf,BYTES, dwarf,raw, lbr or no"));
    };
    if (row == kCallGraphs.end()) return refuse(fmt::format("'{}' is not a way to find callers", words.front()));
    options.sampling.call_graph = row->value;
    for (const auto word : words | std::views::drop(1)) {
        if (row->value != recording::CallGraph::stacks) return refuse("only dwarf can be followed by other words");
        if (word == "raw") {
            options.sampling.keeps_stacks = true;
            continue;
        }
        const auto bytes = whole_number(word);
        if (!bytes || *bytes == 0 || *bytes > recording::kMostStack)
            return refuse(fmt::format("'{}' is not a size of at most {} bytes", word, recording::kMostStack));
        options.sampling.stack_bytes = (static_cast<std::uint32_t>(*bytes) + 7) / 8 * 8;
        options.sampling.stack_bytes_are_wanted = true;
    }
    if (options.sampling.keeps_stacks) keep_stacks(options);
    return {};
}

constexpr std::uint64_t kAnyBranch = abi::bit(abi::kBranchBits, "PERF_SAMPLE_BRANCH_ANY");

/// -b and -j: the bits of attr.branch_sample_type. The kernel refuses privileges (u, k, hv) without a kind of branch;
/// as in perf they mean any branch in those modes. Without privileges the kernel takes those of the event.
Result<void> parse_branches(Options& options) {
    std::uint64_t& filter = options.sampling.branch_filter;
    if (options.any_branch) filter |= kAnyBranch;
    for (const auto& text : options.branch_filters) {
        for (const auto word : split_at_commas(text)) {
            const auto row = std::ranges::find(abi::kBranchBits, word, &abi::BranchBit::word);
            if (row == abi::kBranchBits.end())
                return std::unexpected(bad_option(
                    "-j " + text, fmt::format("'{}' is not a branch filter", word),
                    fmt::format("give one or more of {}",
                                fmt::join(abi::kBranchBits | std::views::transform(&abi::BranchBit::word), ", "))));
            filter |= row->mask();
        }
    }
    if (filter != 0 && (filter & ~abi::kBranchPrivileges) == 0) filter |= kAnyBranch;
    return {};
}

struct ClockName {
    std::string_view name;
    std::int32_t id;
};
constexpr std::array kClocks{
    ClockName{"realtime", CLOCK_REALTIME}, ClockName{"monotonic", CLOCK_MONOTONIC},
    ClockName{"mono", CLOCK_MONOTONIC},    ClockName{"monotonic_raw", CLOCK_MONOTONIC_RAW},
    ClockName{"raw", CLOCK_MONOTONIC_RAW}, ClockName{"boottime", CLOCK_BOOTTIME},
    ClockName{"boot", CLOCK_BOOTTIME},     ClockName{"tai", CLOCK_TAI},
};

Result<void> parse_clock(Options& options) {
    if (options.clock.empty()) return {};
    const auto row = std::ranges::find(kClocks, std::string_view{options.clock}, &ClockName::name);
    if (row == kClocks.end())
        return std::unexpected(bad_option("-k " + options.clock, "it is not a clock that the kernel can record",
                                          "give realtime, monotonic, monotonic_raw, boottime or tai"));
    options.sampling.clock = row->id;
    return {};
}

/// -m and --max-size. A ring has a power of two of pages (perf_mmap() in kernel/events/core.c), so -m is rounded up.
Result<void> parse_sizes(Options& options) {
    if (!options.ring_size.empty()) {
        const auto bytes = size_in_bytes(options.ring_size, kPage);
        constexpr std::uint64_t kMost = std::uint64_t{1} << 30;  // the kernel's array of 2^18 pages
        if (!bytes || *bytes > kMost)
            return std::unexpected(bad_option("-m " + options.ring_size, "it is not a size of at most 1G",
                                              "give a number of pages, or a size such as 512K or 8M"));
        options.ring_bytes = std::bit_ceil(std::max<std::size_t>(*bytes, kPage));
    }
    if (options.largest.empty()) return {};
    const auto bytes = size_in_bytes(options.largest, 1);
    if (!bytes)
        return std::unexpected(
            bad_option("--max-size " + options.largest, "it is not a size", "give a size such as 100M or 2G"));
    options.largest_bytes = *bytes;
    return {};
}

/// --switch-output, by itself or for --switch-output-event, and --overwrite. With --overwrite the recorder reads
/// samples long after their stacks were copied. By then it no longer knows the maps of that time, so it cannot unwind
/// the stacks, and the file gets them.
Result<void> parse_switching(Options& options) {
    if (!options.switch_output.empty()) options.switch_mode = TRY(parse_switch_mode(options.switch_output));
    if (!options.switch_at_events.empty() && options.switch_output.empty()) options.switch_mode.on_signal = true;
    if (options.switch_mode.switches() && options.to_pipe())
        return std::unexpected(bad_option("--switch-output", "standard output is one stream", "give a file with -o"));
    if (options.timestamp_file && options.to_pipe())
        return std::unexpected(
            bad_option("--timestamp-filename", "standard output has no name", "give a file with -o"));
    if (options.most_files != 0 && !options.switch_mode.switches())
        return std::unexpected(bad_option("--switch-max-files", "there is only one file", "give --switch-output, too"));
    options.sampling.overwrite = options.overwrite;
    if (options.overwrite) keep_stacks(options);
    return {};
}

/// --threads. Each thread writes the records of its rings as they are.
Result<void> parse_threads(Options& options) {
    if (options.threads.empty()) return {};
    struct Row {
        bool given;
        const char* option;
        const char* cause;
    };
    const std::array rows{
        Row{options.to_pipe(), "-o -", "standard output is one stream"},
        Row{options.overwrite, "--overwrite", "nothing is written before the end"},
        Row{options.switch_mode.switches(), "--switch-output", "the recording is a directory, which is not switched"},
        Row{options.off_cpu, "--off-cpu", "a wait begins in one ring and may end in another"},
        Row{options.exact || options.backend.wants_virtual(), "--virtual or --exact",
            "one thread empties the rings of the virtual PMU"},
    };
    for (const Row& row : rows)
        if (row.given)
            return std::unexpected(bad_option("--threads", fmt::format("{} is given: {}", row.option, row.cause),
                                              "leave one of them out"));
    // Unwinding needs the records of all rings in the order of time.
    if (options.sampling.call_graph == recording::CallGraph::stacks) keep_stacks(options);
    return {};
}

/// --off-cpu joins records while it writes them, and needs the callers at that moment.
Result<void> check_off_cpu(const Options& options) {
    if (options.overwrite)
        return std::unexpected(bad_option("--off-cpu", "with --overwrite the start of a wait may be overwritten",
                                          "leave one of them out"));
    if (options.sampling.keeps_stacks)
        return std::unexpected(
            bad_option("--off-cpu", "dwarf,raw leaves the callers to the reader", "give --call-graph dwarf"));
    if (options.backend.wants_virtual())
        return std::unexpected(bad_option("--off-cpu", "the virtual PMU does not see which task gets a CPU",
                                          "leave --virtual and its options out"));
    return {};
}

/// --user-regs and --intr-regs. Where callers are unwound while recording, the registers go with the copied stack.
Result<void> parse_registers(Options& options) {
    recording::SamplingOptions& sampling = options.sampling;
    sampling.user_registers = TRY(register_mask("--user-regs", options.user_registers));
    sampling.interrupt_registers = TRY(register_mask("--intr-regs", options.interrupt_registers));
    if (sampling.user_registers != 0 && sampling.call_graph == recording::CallGraph::stacks && !sampling.keeps_stacks)
        return std::unexpected(bad_option("--user-regs",
                                          "--call-graph dwarf uses the registers up while it finds the callers",
                                          "give --call-graph dwarf,raw"));
    return {};
}

/// -u: as -p with the user's processes.
Result<void> choose_user(Options& options) {
    if (!options.pid_numbers.empty())
        return std::unexpected(bad_option("-u", "-p chooses processes, too", "give only one of them"));
    options.pid_numbers = TRY(processes_of_user(options.user));
    return {};
}

Result<void> check_combinations(const Options& options) {
    if (options.period != 0 && !options.frequency.empty())
        return std::unexpected(bad_option("-c", "-F sets how often to sample, too", "give only one of them"));
    const int targets = static_cast<int>(!options.pid_numbers.empty()) +
                        static_cast<int>(!options.tid_numbers.empty()) + static_cast<int>(options.is_cpu_wide());
    if (targets > 1)
        return std::unexpected(bad_option("targets", "-p, -t and system-wide options (-a, -C, -G) exclude each other",
                                          "give only -p, only -t, or only -a, -C and -G"));
    if (targets == 0 && options.command.empty())
        return std::unexpected(Error{"nothing to record", "there is neither a command nor -p, -t, -a, -C or -G",
                                     "anyperf record -- COMMAND"});
    if (options.backend.wants_virtual() && !options.targets_command())
        return std::unexpected(bad_option("--virtual", "the virtual PMU sees only a command that anyperf starts",
                                          "give a command without -p, -t, -a, -C and -G, or use --kernel"));
    return {};
}

/// --python reads the frames of the interpreter at the very instruction of a sample. Only the virtual PMU can.
Result<void> check_python(const Options& options) {
    if (!options.python) return {};
    const auto refuse = [](std::string_view cause, std::string_view fix) {
        return std::unexpected(bad_option("--python", std::string{cause}, std::string{fix}));
    };
    if (options.backend.kernel || !options.targets_command())
        return refuse("only the virtual PMU can read the frames of a Python program, of a command that anyperf starts",
                      "leave out --kernel, -p, -t, -a, -C and -G; or let python3 -X perf write a map");
    if (!options.call_graph.empty() && options.sampling.call_graph != recording::CallGraph::exact)
        return refuse("Python functions are shown among exact callers", "give --call-graph exact");
    return {};
}

/// Refuses all that --exact cannot do. Each row: the options, and the reason.
Result<void> check_exact(const Options& options) {
    struct Row {
        bool given;
        std::string_view option, cause;
    };
    const std::array rows{
        Row{!options.targets_command(), "-p, -t, -a, -C or -G",
            "only a command that anyperf starts can be counted exactly"},
        Row{options.backend.kernel, "--kernel", "the kernel cannot count every instruction by its address"},
        Row{!options.events.empty() && !counts_only_instructions(options), "-e",
            "it counts only instructions and calls"},
        Row{!options.frequency.empty() || options.period > 1, "-F or -c", "every instruction is counted"},
        Row{options.sampling.call_graph != recording::CallGraph::none, "-g or --call-graph",
            "it counts calls, not stacks"},
        Row{options.sampling.branch_filter != 0, "-b or -j", "it takes no samples"},
        Row{options.data_addresses || options.weights || options.switch_events, "-d, -W or --switch-events",
            "it takes no samples"},
        Row{options.sampling.physical_addresses || options.sampling.data_page_sizes || options.sampling.code_page_sizes,
            "--phys-data, --data-page-size or --code-page-size", "it takes no samples"},
        Row{options.sampling.user_registers != 0 || options.sampling.interrupt_registers != 0,
            "--user-regs or --intr-regs", "it takes no samples"},
        Row{options.sampling.no_samples || options.sampling.thread_counts || options.sampling.cgroups,
            "-n, -s or --all-cgroups", "it counts addresses"},
        Row{options.all_kernel, "--all-kernel", "it counts in user mode only"},
        Row{options.sampling.clock.has_value(), "-k", "its clock is always the monotonic one"},
        Row{options.delay_ms != 0 || !options.control.empty(), "-D or --control",
            "it counts from the first instruction to the last"},
        Row{options.off_cpu, "--off-cpu", "it takes no samples"},
        Row{options.overwrite || options.switch_mode.switches(), "--overwrite or --switch-output",
            "the counts are written at the end"},
        Row{options.no_inherit, "--no-inherit", "it counts all processes that the command starts"},
    };
    for (const Row& row : rows)
        if (row.given)
            return std::unexpected(
                bad_option(row.option, fmt::format("--exact is given: {}", row.cause), "leave one of them out"));
    return {};
}

}  // namespace

bool counts_only_instructions(const Options& options) {
    return options.events.size() == 1 &&
           (options.events.front() == "instructions" || options.events.front() == "instructions:u");
}

bool wants_exact(const Options& options) {
    const bool each = options.period == 1 && counts_only_instructions(options);
    return options.exact || (each && check_exact(options).has_value());
}

namespace {

/// What events count, and what their samples have.
void declare_fields(CLI::App& verb, Options& options) {
    recording::SamplingOptions& sampling = options.sampling;
    verb.add_flag("--all-user", options.all_user, "record every event in user mode only");
    verb.add_flag("--all-kernel", options.all_kernel, "record every event in kernel mode only")->excludes("--all-user");
    verb.add_flag("--user-callchains", sampling.no_kernel_callers, "record the callers in user mode only");
    verb.add_flag("--kernel-callchains", sampling.no_user_callers, "record the callers in kernel mode only");
    verb.add_flag("--sample-cpu", sampling.cpus, "record the CPU of each sample, which -a and -C always do");
    verb.add_flag("--sample-identifier", sampling.identifiers, "record the event's id with each sample");
    verb.add_flag("--phys-data", sampling.physical_addresses, "record physical data addresses");
    verb.add_flag("--data-page-size", sampling.data_page_sizes, "record the page sizes of data addresses");
    verb.add_flag("--code-page-size", sampling.code_page_sizes, "record the page sizes of code addresses");
    verb.add_flag("--transaction", sampling.transactions, "record flags of transactional memory");
    verb.add_flag("--user-regs{all}", options.user_registers,
                  "record the registers in user mode; =ax,sp,ip: some of them");
    verb.add_flag("-I{all},--intr-regs{all}", options.interrupt_registers,
                  "record the registers where each sample was taken; =ax,sp,ip: some of them");
    verb.add_flag("-s,--stat", sampling.thread_counts, "record the count of each thread that ends (report -T)");
    verb.add_flag("-n,--no-samples", sampling.no_samples, "record no samples: names, maps, and with -s counts");
    verb.add_flag("--namespaces", sampling.namespaces, "record the namespaces of tasks");
    verb.add_flag("--all-cgroups", sampling.cgroups, "record the cgroup of each sample (report -s cgroup)");
    verb.add_flag("!--no-bpf-event", sampling.bpf, "do not record which BPF programs are loaded");
}

}  // namespace

void declare_options(CLI::App& verb, Options& options) {
    // As for stat: the first word that is not an option begins the command (command_words.h).
    verb.prefix_command();
    verb.footer(
        "anyperf record [OPTIONS] [--] COMMAND...\nanyperf record [OPTIONS] {-p PIDS | -t TIDS | -a | -C CPUS} "
        "[[--] COMMAND...]");
    make_repeatable(
        verb.add_option("-e,--event", options.events, "EVENTS: in perf's syntax: cycles,{a,b}:S,sched:*; repeatable"));
    make_repeatable(verb.add_option("--filter", options.filters,
                                    "FILTER: record the tracepoints of the -e before it where FILTER holds"));
    verb.add_flag("--exclude-perf")
        ->description("leave the recorder's own hits out of the tracepoints of the -e before it");
    verb.add_option("-F,--freq", options.frequency, "N: samples a second (default: 4000); max: the kernel's limit")
        ->type_name("");
    verb.add_option("-c,--count", options.period, "N: one sample every N events")
        ->type_name("")
        ->transform(whole_number_from(std::uint64_t{1}, ~std::uint64_t{0} >> 1));
    verb.add_flag("-g", options.frame_pointers,
                  "record the callers: exactly on the virtual PMU, else by frame pointers");
    verb.add_option("--call-graph", options.call_graph,
                    "exact | fp | dwarf[,BYTES][,raw] | lbr: how the callers are found")
        ->type_name("");
    CLI::Option* const python = verb.add_flag("--python", options.python,
                                              "show Python functions among the callers; implies --call-graph exact");
    verb.add_flag("--no-python", options.no_python, "leave Python functions out of exact callers")->excludes(python);
    verb.add_option("-o,--output", options.output, "FILE: where to write (default: perf.data); -: standard output")
        ->type_name("");
    declare_target_options(verb,
                           {options.pids, options.tids, options.system_wide, options.cpu_list, options.no_inherit});
    verb.add_option("-u,--uid", options.user, "USER: the processes that run for a user, by name or number")
        ->type_name("");
    verb.add_option("-G,--cgroup", options.cgroup, "CGROUP: the tasks of a cgroup")->type_name("");
    verb.add_flag("-b,--branch-any", options.any_branch, "record the last branches before each sample");
    make_repeatable(verb.add_option("-j,--branch-filter", options.branch_filters,
                                    "FILTERS: record the last branches of these kinds: any_call,u"));
    verb.add_flag("-d,--data", options.data_addresses, "record data addresses");
    verb.add_flag("-W,--weight", options.weights, "record weights, such as latencies");
    verb.add_flag("--switch-events", options.switch_events, "record context switches");
    verb.add_flag("--off-cpu", options.off_cpu, "record where threads wait, and how long (event offcpu-time, in ns)");
    verb.add_option("-k,--clockid", options.clock, "CLOCK: the clock of the times: monotonic, realtime, …")
        ->type_name("");
    verb.add_option("-D,--delay", options.delay_ms,
                    "MS: start recording MS milliseconds after the start; -1: when --control or the program says so")
        ->type_name("")
        ->transform(whole_number_from(kDelayForever, std::int64_t{86'400'000}));
    verb.add_option("--control", options.control,
                    "fd:A[,B] | fifo:A[,B]: enable, disable and stop by lines from A, acknowledged to B")
        ->type_name("");
    verb.add_option("-m,--mmap-pages", options.ring_size, "SIZE: of the ring of each CPU: pages, or 512K, 8M")
        ->type_name("");
    verb.add_option("-r,--realtime", options.realtime_priority,
                    "PRIORITY: empty the rings with this real-time priority (SCHED_FIFO), 1 to 99")
        ->type_name("")
        ->transform(whole_number_from(1, 99));
    verb.add_flag("--threads{cpu}", options.threads,
                  "several threads empty the rings, and the recording is a directory; =cpu (the default), core, "
                  "package, numa: a thread for each; =CPUS/CPUS:…: as these masks say");
    verb.add_flag("-z,--compress", options.compressed, "compress the records (zstd)");
    verb.add_option("--compression-level", options.level, "N: compress at this level: 1 (fast, as -z) to 22")
        ->type_name("")
        ->transform(whole_number_from(1, 22));
    verb.add_option("--max-size", options.largest, "SIZE: stop recording when the file has this size: 100M, 2G")
        ->type_name("");
    verb.add_flag(
        "--overwrite", options.overwrite,
        "keep the newest samples in the rings only, and write them at the end, or when the output is switched");
    verb.add_flag("--switch-output{signal}", options.switch_output,
                  "go on in another file: at SIGUSR2; =SIZE (100M): at that size; =TIME (30s, 5m, 2h, 1d): after it");
    make_repeatable(verb.add_option("--switch-output-event", options.switch_at_events,
                                    "EVENTS: go on in another file when one of them happens; they are not recorded"));
    verb.add_option("--switch-max-files", options.most_files, "N: of --switch-output: keep the last N files")
        ->type_name("");
    verb.add_flag("--timestamp-filename", options.timestamp_file, "add the time at the end to the file's name");
    verb.add_flag("--exact", options.exact,
                  "count every instruction and call of the command by its address, instead of sampling");
    declare_fields(verb, options);
    verb.add_flag("--dry-run", options.dry_run, "check the options and the events, and record nothing");
    verb.add_flag("-v,--verbose", options.verbose, "note how each event was opened");
    verb.add_flag("-q,--quiet", options.quiet, "print no notes, only errors");
    for (const char* names : {"-N,--no-buildid-cache", "-P,--period", "-T,--timestamp", "-R,--raw-samples",
                              "--buildid-all", "--buildid-mmap", "--timestamp-boundary", "--per-thread",
                              "--strict-freq", "-B,--no-buildid", "--no-buffering", "--tail-synthesize"})
        declare_always(verb, names);
    // How perf divides its own work: nothing in the recording depends on it.
    for (const char* names : {"--affinity", "--mmap-flush", "--num-thread-synthesize", "--proc-map-timeout"})
        declare_always(verb, names, true);
    verb.add_flag("--aio{1}")->group("");
    declare_backend_options(verb, options.backend);
}

Result<void> check(Options& options) {
    options.pid_numbers = TRY(parse_ids(options.pids, "-p"));
    if (!options.user.empty()) TRY(choose_user(options));
    options.tid_numbers = TRY(parse_ids(options.tids, "-t"));
    if (!options.cpu_list.empty()) options.cpus = TRY(host::parse_cpu_list(options.cpu_list));
    TRY(parse_frequency(options));
    TRY(parse_call_graph(options));
    TRY(parse_branches(options));
    TRY(parse_clock(options));
    TRY(parse_sizes(options));
    if (options.level) options.compression_level = *options.level;
    options.compressed |= options.level.has_value();
    TRY(parse_switching(options));
    TRY(parse_threads(options));
    TRY(check_combinations(options));
    TRY(check_python(options));
    recording::SamplingOptions& sampling = options.sampling;
    if (options.period != 0) sampling.period = options.period;
    sampling.data_addresses = options.data_addresses;
    sampling.weights = options.weights;
    sampling.switch_events = options.switch_events || options.off_cpu;
    sampling.inherit = !options.no_inherit;
    sampling.cpu_wide = options.is_cpu_wide();
    TRY(parse_registers(options));
    if (options.exact) TRY(check_exact(options));
    if (options.off_cpu) TRY(check_off_cpu(options));
    sampling.enable_on_exec = options.targets_command() && options.delay_ms == 0;
    sampling.separate_tracking = options.delay_ms != 0 || sampling.cpu_wide || options.overwrite;
    return {};
}

}  // namespace anyperf::cli::record
