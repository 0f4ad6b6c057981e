// run.cpp: selects the cases to run and reports their outcomes: one line each, a count, and a JSON file.
#include <fnmatch.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "suite/expect.h"
#include "suite/runner.h"
#include "suite/workload.h"

namespace conformance {

namespace {

struct NamedCase {
    std::string name;  ///< AREA/CASE
    Case test;
    Result result;
};

/// Runs `check` twice; failures of the first run are ignored.
std::function<void()> with_rehearsal(std::function<void()> check) {
    return [check = std::move(check)] {
        try {
            check();
        } catch (const Failure&) {
        }
        check();
    };
}

std::vector<NamedCase> select_cases(const std::string& filter) {
    std::vector<NamedCase> all;
    for (const Area& area : areas())
        for (Case& test : area.cases()) {
            std::string name = std::string{area.name} + "/" + test.name;
            if (area.rehearsal == Rehearsal::once) test.check = with_rehearsal(std::move(test.check));
            if (::fnmatch(filter.c_str(), name.c_str(), 0) == 0) all.push_back({std::move(name), std::move(test), {}});
        }
    return all;
}

/// A row of the table of differences.
struct Difference {
    std::string failure;  ///< how the case fails, a pattern of fnmatch(3)
    std::string reason;
};
using Differences = std::map<std::string, Difference>;  // by the name of the case

/// The file's columns are: case, how it fails, why.
Differences known_differences(const std::string& path) {
    Differences known;
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.starts_with('#')) continue;
        std::istringstream columns{line};
        std::string name;
        Difference row;
        std::getline(std::getline(std::getline(columns, name, '\t'), row.failure, '\t'), row.reason, '\t');
        known[name] = row;
    }
    return known;
}

/// A case that fails as its row in the table of differences says is reported as skipped. If it fails in another way, or
/// passes, the row is wrong, and the case fails.
Result apply_known_differences(const NamedCase& named, Result result, const Differences& known) {
    const auto row = known.find(named.name);
    if (row == known.end() || result.outcome == Outcome::skipped) return result;
    const auto& [failure, reason] = row->second;
    if (result.outcome == Outcome::passed)
        return {Outcome::failed, "passes although the table of differences has a row for it"};
    if (::fnmatch(failure.c_str(), result.text.c_str(), 0) != 0)
        return {Outcome::failed, result.text + "; the table of differences says: " + failure};
    return {Outcome::skipped, "known to differ: " + reason};
}

const char* outcome_name(Outcome outcome) {
    if (outcome == Outcome::passed) return "pass";
    return outcome == Outcome::failed ? "fail" : "skip";
}

void print(const NamedCase& named, bool quiet) {
    const Result& result = named.result;
    if (result.outcome == Outcome::passed && !quiet) std::printf("pass %s\n", named.name.c_str());
    if (result.outcome == Outcome::skipped) std::printf("skip %s: %s\n", named.name.c_str(), result.text.c_str());
    if (result.outcome == Outcome::failed)
        std::printf("fail %s: %s (%s)\n", named.name.c_str(), result.text.c_str(), named.test.statement.c_str());
    std::fflush(stdout);
}

std::string quoted(const std::string& text) {
    std::ostringstream out;
    out << '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') out << '\\';
        if (static_cast<unsigned char>(c) < ' ') {
            out << "\\u00" << "0123456789abcdef"[c >> 4] << "0123456789abcdef"[c & 15];
            continue;
        }
        out << c;
    }
    out << '"';
    return out.str();
}

bool write_json(const std::string& path, const std::vector<NamedCase>& all) {
    std::ofstream file{path};
    file << "[\n";
    for (const NamedCase& named : all)
        file << "  {\"case\": " << quoted(named.name) << ", \"statement\": " << quoted(named.test.statement)
             << ", \"outcome\": \"" << outcome_name(named.result.outcome)
             << "\", \"text\": " << quoted(named.result.text) << (&named == &all.back() ? "}\n" : "},\n");
    file << "]\n" << std::flush;
    return file.good();
}

}  // namespace

int run(const Options& options) {
    [[maybe_unused]] const auto& cpus = allowed_cpus();  // read before a case pins a thread
    std::vector<NamedCase> all = select_cases(options.filter);
    if (options.list) {
        for (const NamedCase& named : all) std::printf("%s\t%s\n", named.name.c_str(), named.test.statement.c_str());
        return 0;
    }
    const auto known = options.differences.empty() ? Differences{} : known_differences(options.differences);
    std::map<Outcome, int> counts;
    for (NamedCase& named : all) {
        named.result = apply_known_differences(named, run_case(named.test, options), known);
        ++counts[named.result.outcome];
        print(named, options.quiet);
    }
    if (!options.json.empty() && !write_json(options.json, all)) {
        std::fprintf(stderr, "conformance: can't write %s\n", options.json.c_str());
        return 125;
    }
    std::printf("%d passed, %d failed, %d skipped\n", counts[Outcome::passed], counts[Outcome::failed],
                counts[Outcome::skipped]);
    if (all.empty()) std::fprintf(stderr, "conformance: no case matches %s\n", options.filter.c_str());
    return counts[Outcome::failed] > 0 || all.empty() ? 1 : 0;
}

}  // namespace conformance
