// main.cpp: step_count, the reference for `anyperf run --count`. Runs a program by single steps and prints the same
// JSON.
//   step_count [--count-to FILE] [--trace FILE] [--window START END] [--models [--machine NAME] [--accesses FILE]
//              [--branches FILE]] [--callers FILE --each N] -- CMD...
// --trace lists "tid address instruction" of each retired instruction, to find where two runs diverge. --window counts
// between two hexadecimal addresses. --models adds what the models of each preset count, and --accesses and
// --branches list what the models of one machine say of each access and of each taken branch (modelled.h). --callers
// writes the call chain after each N instructions of a task (callers.h). Exits with the program's status, 128 + n if
// signal n ended it.
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "step_count/stepper.h"

namespace anyperf::step_count {
namespace {

nlohmann::ordered_json to_json(const Counts& counts) {
    nlohmann::ordered_json out;
    for (const auto& row : engine::x86_64::kClasses)
        out[std::string(row.name)] = counts[static_cast<std::size_t>(row.id)];
    return out;
}

int shell_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

nlohmann::ordered_json models_json(const Modelled& models) {
    nlohmann::ordered_json out;
    for (const auto& [machine, counts] : models.totals())
        for (const auto& row : models::kQuantityRows) out[machine][std::string(row.name)] = counts[row.quantity];
    return out;
}

nlohmann::ordered_json report(const Stepper& stepper) {
    Counts total{};
    for (const auto& [tid, task] : stepper.tasks())
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += task.counts[i];
    nlohmann::ordered_json processes = nlohmann::ordered_json::array();
    for (const auto& [pid, process] : stepper.processes()) {
        nlohmann::ordered_json threads = nlohmann::ordered_json::array();
        for (const auto& [tid, task] : stepper.tasks())
            if (task.process == pid)
                threads.push_back({{"tid", tid}, {"comm", task.comm}, {"counts", to_json(task.counts)}});
        processes.push_back({{"pid", pid},
                             {"comm", process.comm},
                             {"exe", process.executable},
                             {"exit", shell_status(process.status)},
                             {"threads", threads}});
    }
    return {{"total", to_json(total)}, {"processes", processes}};
}

struct Options {
    std::string count_to;
    std::string trace;
    std::vector<std::string> window;
    bool models = false;
    std::string accesses;
    std::string branches;
    std::string machine = "skx";
    std::string callers;
    std::uint64_t each = 1;
    std::vector<std::string> command;
};

std::optional<Window> window_of(const std::vector<std::string>& words) {
    if (words.size() != 2) return std::nullopt;
    return Window{std::stoull(words[0], nullptr, 16), std::stoull(words[1], nullptr, 16)};
}

int run(Options& options) {
    std::ofstream trace;
    if (!options.trace.empty()) trace.open(options.trace);
    Stepper stepper(window_of(options.window), options.trace.empty() ? nullptr : &trace);
    std::vector<char*> arguments;
    arguments.reserve(options.command.size() + 1);
    for (auto& word : options.command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    Modelled models;
    if (options.models) stepper.model(models);
    std::ofstream accesses;
    if (!options.accesses.empty()) accesses.open(options.accesses);
    if (!options.accesses.empty()) models.list_accesses(options.machine, accesses);
    std::ofstream branches;
    if (!options.branches.empty()) branches.open(options.branches);
    if (!options.branches.empty()) models.list_branches(options.machine, branches);
    std::ofstream chains;
    if (!options.callers.empty()) chains.open(options.callers);
    Callers callers{chains, options.each};
    if (!options.callers.empty()) stepper.follow(callers);
    const int status = stepper.run(arguments.data());
    auto counts = report(stepper);
    if (options.models) counts["models"] = models_json(models);
    std::ofstream file;
    if (!options.count_to.empty()) file.open(options.count_to);
    (options.count_to.empty() ? std::cerr : file) << counts.dump(2) << '\n';
    return shell_status(status);
}

}  // namespace
}  // namespace anyperf::step_count

int main(int argc, char** argv) {
    anyperf::step_count::Options options;
    CLI::App app{"counts a program by single steps"};
    app.add_option("--count-to", options.count_to, "write the JSON here, not to standard error");
    app.add_option("--trace", options.trace, "list the retired instructions here");
    app.add_option("--window", options.window, "count between these two addresses")->expected(2);
    app.add_flag("--models", options.models, "count with the models of each preset, too; for a program of one thread");
    app.add_option("--accesses", options.accesses, "list here what --machine's model says of each access");
    app.add_option("--branches", options.branches, "list here what --machine's predictors say of each taken branch");
    app.add_option("--machine", options.machine, "the preset of --accesses and --branches");
    app.add_option("--callers", options.callers, "write the call chain after each --each instructions here");
    app.add_option("--each", options.each, "instructions of a task between two chains");
    app.add_option("command", options.command, "the program and its arguments")->required();
    app.positionals_at_end();
    CLI11_PARSE(app, argc, argv);
    return anyperf::step_count::run(options);
}
