// script.cpp: `anyperf script`: the samples of a perf.data file in the order of time, as perf script prints them.
#include "cli/script.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/missing_data.h"
#include "cli/command/target_options.h"
#include "cli/dump/record_dump.h"
#include "cli/option_checks.h"
#include "cli/reading/head_text.h"
#include "cli/reading/losses.h"
#include "cli/reading/sample_filters.h"
#include "cli/recording.h"
#include "cli/script/fields.h"
#include "cli/script/printer.h"
#include "perfdata/reader.h"
#include "try.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::string input = "perf.data";
    std::vector<std::string> fields;
    SymbolOptions symbols;
    FilterOptions filters;
    HeadOptions head;
    ShownRecords records;
    std::size_t most_frames = ScriptPrinter::kAllFrames;
    std::vector<std::string> last_functions;
    bool inlines = true;
    bool whole_source_paths = false;
    bool hide_call_chains = false;
    bool since_first = false;
    bool since_last = false;
    bool nanoseconds = false;
    bool quiet = false;
    bool dump = false;         ///< -D
    bool event_files = false;  ///< --per-event-dump
};

Result<ScriptPrinter::Options> printing_of(const Options& options) {
    using Times = ScriptPrinter::Options::Times;
    if (options.since_first && options.since_last)
        return std::unexpected(Error{"cannot print times in two ways", "--reltime and --deltatime exclude each other",
                                     "leave one of them out"});
    const Filters filters = TRY(filters_of(options.filters));
    ScriptPrinter::Options printing{
        .chosen = {},
        .frames = {.inlines = options.inlines, .whole_source_paths = options.whole_source_paths},
        .call_chains = !options.hide_call_chains,
        .most_frames = options.most_frames,
        .times = options.since_first  ? Times::since_first
                 : options.since_last ? Times::since_last
                                      : Times::absolute,
        .last_functions = options.last_functions,
        .nanoseconds = options.nanoseconds,
        .records = options.records,
        .filters = filters,
        .buffered = !options.dump};
    if (!options.fields.empty()) printing.chosen = TRY(ChosenFields::parse(options.fields));
    return printing;
}

// Damage is a note and not an error: everything before it has been printed.
Result<int> script(const Options& options, Output& out) {
    ScriptPrinter::Options printing = TRY(printing_of(options));
    perfdata::Reader reader = TRY(perfdata::Reader::open(options.input));
    TRY(printing.filters.time.resolve(reader.facts().first_ns, reader.facts().last_ns));
    TRY(analysis::check_cpus(reader, printing.filters.cpus));
    if (printing.chosen) TRY(printing.chosen->check(reader));
    if (options.head.any()) {
        out.print(TRY(head_text(options.input, reader, options.head.full)));
        if (options.head.only) return 0;
    }
    const symbols::SymbolPaths paths = TRY(symbol_paths(options.symbols, out));
    EventFiles files{options.input};
    if (options.event_files) printing.files = &files;
    ScriptPrinter printer{reader, paths, std::move(printing), out};
    RecordDump records{reader, options.input, paths, out, &printer};
    const perfdata::Summary summary = options.dump ? reader.read(records) : reader.read(printer);
    printer.flush();
    out.print(TRY(files.finish()));
    if (!options.quiet) printer.note_lost_files();
    if (const std::string losses = losses_of_recording(summary.all_lost(), summary.lost);
        !losses.empty() && !options.quiet)
        out.note("anyperf: " + losses + "\n");
    if (summary.damage) out.note(fmt::format("anyperf: {}: {}\n", summary.damage->what, summary.damage->cause));
    return 0;
}

void declare_records(CLI::App& verb, ShownRecords& records) {
    verb.add_flag("--show-task-events", records.tasks, "print when tasks begin, end and get a name");
    verb.add_flag("--show-mmap-events", records.maps, "print what is mapped");
    verb.add_flag("--show-switch-events", records.switches, "print context switches");
    verb.add_flag("--show-lost-events", records.losses, "print where records were lost");
    verb.add_flag("--show-namespace-events", records.namespaces, "print the namespaces of tasks");
    verb.add_flag("--show-cgroup-events", records.cgroups, "print the names of cgroups");
    verb.add_flag("--show-bpf-events", records.bpf, "print which BPF programs are loaded");
    verb.add_flag("--show-round-events", records.rounds, "print where the recorder had emptied all rings");
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("-i,--input", options->input, "the file to read; - is standard input")->type_name("FILE");
    verb.add_option(
            "-F,--fields", options->fields,
            "what to print: comm, pid, tid, cpu, misc, time, period, event, ip, sym, symoff, dso, addr, srcline, "
            "weight, ins_lat, brstack, insn, insnlen, phys_addr, trace, data_src, data_page_size, code_page_size; "
            "+FIELD and -FIELD change the default; hw:, sw:, trace: and raw: begin the list of one type of events")
        ->allow_extra_args(false)
        ->take_all()
        ->type_name("FIELD,…");
    verb.add_flag("--inline,!--no-inline", options->inlines, "print inlined functions of call chains (default: on)");
    verb.add_flag("-G,--hide-call-graph", options->hide_call_chains, "print each sample's own address only");
    verb.add_option("--max-stack", options->most_frames, "print at most N frames of a call chain")->type_name("N");
    verb.add_option("--stop-bt", options->last_functions, "print call chains up to the first of these functions")
        ->delimiter(',')
        ->type_name("FUNCTION,…");
    verb.add_flag("--full-source-path", options->whole_source_paths, "print source files with their directories");
    verb.add_flag("--ns", options->nanoseconds, "print times with nine decimals");
    verb.add_flag("--reltime", options->since_first, "print times since the first line");
    verb.add_flag("--deltatime", options->since_last, "print times since the line before");
    declare_filters(verb, "cCS", options->filters);
    verb.add_option("--addr-range", options->filters.address_range,
                    "of -S 0xADDRESS: samples at this many bytes from the address on")
        ->transform(whole_number_from(std::uint64_t{1}, ~std::uint64_t{0} >> 1))
        ->type_name("BYTES");
    verb.add_flag("--per-event-dump", options->event_files, "print the lines of each event to FILE.EVENT.dump");
    declare_records(verb, options->records);
    declare_head(verb, options->head);
    verb.add_flag("-D,--dump-raw-trace", options->dump,
                  "print each record byte by byte, with what its fields mean, before its line");
    verb.add_flag("-q,--quiet", options->quiet, "print no notes about files without names and lost records");
    for (const char* names : {"-f,--force", "-v,--verbose"}) declare_always(verb, names);
    declare_symbol_options(verb, options->symbols);
    declare_demangle(verb, options->symbols);
    declare_kallsyms(verb, options->symbols);
    return [options](Output& out) { return script(*options, out); };
}

}  // namespace

constinit const Verb kScript{"script", "print the samples of a perf.data file one by one", declare};

}  // namespace anyperf::cli
