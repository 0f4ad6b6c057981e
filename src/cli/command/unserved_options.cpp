#include "cli/command/unserved_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

namespace anyperf::cli {

namespace {

/// Options that share a reason. `verbs` and `names` are words; `fix` may be empty.
struct Row {
    std::string_view verbs, names, cause, fix;
};

constexpr std::array kRows{
    // Display.
    Row{"report annotate", "--tui --gtk", "anyperf report and annotate print text",
        "anyperf export -f html makes a page to click through"},
    Row{"report", "--pretty --raw-trace", "tracepoints are shown by their print format", "see script -F trace"},
    Row{"report", "--samples --show-ref-call-graph --show-on-off-events", "report has no such view", ""},
    Row{"report", "--ns", "times in reports have microseconds", "use script --ns"},
    // Records as they are.
    Row{"annotate", "-D --dump-raw-trace", "records are not printed byte by byte", "use report -D"},
    Row{"report script annotate", "--dump-unsorted-raw-trace --disable-order", "records are read in the order of time",
        "use report -D, or script -D"},
    Row{"script", "--show-text-poke-events --show-on-off-events", "these records are not printed", ""},
    Row{"script", "-d --debug-mode -L --Latency", "perf's checks of its own files", ""},
    Row{"script", "--show-kernel-path", "the kernel's names come from kallsyms", ""},
    // Programs that perf runs.
    Row{"script", "-g --gen-script -l --list -s --script -a --all-cpus --dlfilter --dlarg --list-dlfilters --xed",
        "anyperf script runs no scripts and no plugins", "pipe the output of anyperf script to a program"},
    Row{"annotate", "--objdump", "instructions are disassembled by anyperf itself", ""},
    Row{"record", "--clang-path --clang-opt", "there are no BPF scriptlets", ""},
    // Symbols.
    Row{"record report script annotate", "-k --vmlinux", "the kernel's names come from /proc/kallsyms",
        "report and script take those of another machine with --kallsyms"},
    Row{"report annotate", "-m --modules", "modules have their names from /proc/kallsyms", ""},
    Row{"script annotate", "--demangle-kernel", "functions of a kernel are in C", ""},
    Row{"script", "--guest-code --guestkallsyms --guestmodules --guestmount --guestvmlinux",
        "guests of a hypervisor are not looked into", ""},
    // Hardware traces.
    Row{"report script annotate", "--itrace --call-ret-trace --call-trace --insn-trace --graph-function --max-blocks",
        "hardware traces (Intel PT, CoreSight, SPE) are not decoded", ""},
    Row{"report script", "--stitch-lbr", "call stacks of the LBR are shown as recorded", ""},
    Row{"report script", "--switch-on --switch-off", "samples are chosen by their times, not by events", "use --time"},
    Row{"record", "-S --snapshot --aux-sample --kcore", "hardware traces are not recorded", ""},
    // Annotated code.
    Row{"report", "--branch-history", "branches are not joined with call chains", "use -b"},
    // What has changed.
    Row{"diff", "--cycles-hist --stream", "branches are not compared", "use report -b for each recording"},
    Row{"diff", "-D --dump-raw-trace", "records are not printed byte by byte", ""},
    Row{"diff top", "-m --modules -k --vmlinux --ignore-vmlinux", "the kernel's names come from /proc/kallsyms", ""},
    Row{"top", "--kallsyms", "the kernel's names come from /proc/kallsyms", ""},
    // While programs run.
    Row{"top", "-b --branch-any -j --branch-filter", "top shows no branches", "use record -b and report -b"},
    Row{"top", "--percentage -f --count-filter", "the heaviest rows come first", "use -E for the number of rows"},
    Row{"top", "--children --no-children", "with -g rows have what they call, and else not", ""},
    Row{"top",
        "--fields --hierarchy -w --column-widths --raw-trace "
        "--group --group-sort-idx --ignore-callees --max-stack --stitch-lbr --prefix --prefix-strip "
        "--demangle-kernel --tui --percent-type",
        "top has one view", "use record, and report or annotate"},
    Row{"top", "-M --disassembler-style --objdump --asm-raw --source --sym-annotate", "enter shows code",
        "use record and annotate"},
    Row{"top", "--switch-on --switch-off --show-on-off-events", "samples are not chosen by events", ""},
    Row{"top", "-D --dump-symtab --force --hide --overwrite --all-cgroups --namespaces --no-bpf-event -v --verbose",
        "the recorder does nothing of the kind", ""},
    // Recording.
    Row{"record", "--synth", "what exists is recorded first, and whole", ""},
    Row{"record", "--group", "an option of the first perfs", "write -e '{a,b}'"},
    Row{"record", "--debuginfod", "names are looked up when the recording is read", "give it to report"},
    Row{"record", "--running-time", "samples of groups have no times", "use anyperf stat"},
};

bool has_word(std::string_view words, std::string_view word) {
    for (const auto piece : std::views::split(words, ' '))
        if (std::string_view{piece} == word) return true;
    return false;
}

}  // namespace

std::optional<Error> why_unserved(std::string_view verb, std::string_view name) {
    const auto row = std::ranges::find_if(
        kRows, [&](const Row& each) { return has_word(each.verbs, verb) && has_word(each.names, name); });
    if (row == kRows.end()) return std::nullopt;
    return Error{fmt::format("anyperf {} does not have perf's option {}", verb, name), std::string{row->cause},
                 row->fix.empty() ? fmt::format("see anyperf {} --help", verb) : std::string{row->fix}};
}

}  // namespace anyperf::cli
