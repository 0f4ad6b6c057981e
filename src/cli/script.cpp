// script.cpp: `anyperf script`: the samples of a perf.data file in the order of time, as perf script prints them.
#include "cli/script.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

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
    bool inlines = true;
};

// Damage is a note and not an error: everything before it has been printed.
Result<int> script(const Options& options, Output& out) {
    std::optional<ChosenFields> chosen;
    if (!options.fields.empty()) chosen = TRY(fields_named(options.fields));
    perfdata::Reader reader = TRY(perfdata::Reader::open(options.input));
    ScriptPrinter printer {
        reader, TRY(symbol_paths(options.symbols, out))
        , {chosen, options.inlines}, out
    };
    const perfdata::Summary summary = reader.read(printer);
    printer.flush();
    printer.note_lost_files();
    if (summary.lost > 0)
        out.note(
            fmt::format("anyperf: {} records were lost while recording, because the rings were full\n", summary.lost));
    if (summary.damage) out.note(fmt::format("anyperf: {}: {}\n", summary.damage->what, summary.damage->cause));
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("-i,--input", options->input, "the file to read; - is standard input")->type_name("FILE");
    verb.add_option(
            "-F,--fields", options->fields,
            "what to print: comm, pid, tid, cpu, time, period, event, ip, sym, symoff, dso, addr, srcline, weight, "
            "brstack, phys_addr, trace, data_src, data_page_size, code_page_size; "
            "+FIELD and -FIELD change the default")
        ->delimiter(',')
        ->type_name("FIELD,…");
    verb.add_flag("--inline,!--no-inline", options->inlines, "print inlined functions of call chains (default: on)");
    declare_symbol_options(verb, options->symbols);
    return [options](Output& out) { return script(*options, out); };
}

}  // namespace

constinit const Verb kScript{"script", "print the samples of a perf.data file one by one", declare};

}  // namespace anyperf::cli
