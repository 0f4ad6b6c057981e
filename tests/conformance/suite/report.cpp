// report.cpp: which cases run, and how their outcomes are said: lines, a count, a JSON file.
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

struct Named {
    std::string name;
    Case one;
    Result result;
};

std::function<void()> rehearsed(std::function<void()> check) {
    return [check = std::move(check)] {
        try {
            check();
        } catch (const Failure&) {
        }
        check();
    };
}

std::vector<Named> selected(const std::string& filter) {
    std::vector<Named> all;
    for (const Area& area : areas())
        for (Case& one : area.cases()) {
            std::string name = std::string{area.name} + "/" + one.name;
            if (area.rehearsal == Rehearsal::once) one.check = rehearsed(std::move(one.check));
            if (::fnmatch(filter.c_str(), name.c_str(), 0) == 0) all.push_back({std::move(name), std::move(one), {}});
        }
    return all;
}

/// Case -> why it is known to differ. Columns: case, what differs, why.
std::map<std::string, std::string> known_differences(const std::string& path) {
    std::map<std::string, std::string> known;
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.starts_with('#')) continue;
        const std::size_t tab = line.find('\t');
        known[line.substr(0, tab)] = tab == std::string::npos ? "" : line.substr(line.rfind('\t') + 1);
    }
    return known;
}

/// A known difference is no failure, but a row of the table that holds no longer is one.
Result judged(const Named& named, Result result, const std::map<std::string, std::string>& known) {
    const auto row = known.find(named.name);
    if (row == known.end() || result.outcome == Outcome::skipped) return result;
    if (result.outcome == Outcome::failed) return {Outcome::skipped, "known to differ: " + row->second};
    return {Outcome::failed, "passes, though the table of differences has a row for it"};
}

const char* word(Outcome outcome) {
    if (outcome == Outcome::passed) return "pass";
    return outcome == Outcome::failed ? "fail" : "skip";
}

void print(const Named& named, bool quiet) {
    const Result& result = named.result;
    if (result.outcome == Outcome::passed && !quiet) std::printf("pass %s\n", named.name.c_str());
    if (result.outcome == Outcome::skipped) std::printf("skip %s: %s\n", named.name.c_str(), result.text.c_str());
    if (result.outcome == Outcome::failed)
        std::printf("fail %s: %s (%s)\n", named.name.c_str(), result.text.c_str(), named.one.statement.c_str());
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

bool write_json(const std::string& path, const std::vector<Named>& all) {
    std::ofstream file{path};
    file << "[\n";
    for (const Named& named : all)
        file << "  {\"case\": " << quoted(named.name) << ", \"statement\": " << quoted(named.one.statement)
             << ", \"outcome\": \"" << word(named.result.outcome) << "\", \"text\": " << quoted(named.result.text)
             << (&named == &all.back() ? "}\n" : "},\n");
    file << "]\n" << std::flush;
    return file.good();
}

}  // namespace

int run(const Options& options) {
    [[maybe_unused]] const auto& cpus = allowed_cpus();
    std::vector<Named> all = selected(options.filter);
    if (options.list) {
        for (const Named& named : all) std::printf("%s\t%s\n", named.name.c_str(), named.one.statement.c_str());
        return 0;
    }
    const auto known =
        options.differences.empty() ? std::map<std::string, std::string>{} : known_differences(options.differences);
    std::map<Outcome, int> counts;
    for (Named& named : all) {
        named.result = judged(named, run_case(named.one, options), known);
        ++counts[named.result.outcome];
        print(named, options.quiet);
    }
    if (!options.json.empty() && !write_json(options.json, all)) {
        std::fprintf(stderr, "conformance: can't write %s\n", options.json.c_str());
        return 125;
    }
    std::printf("%d passed, %d failed, %d skipped\n", counts[Outcome::passed], counts[Outcome::failed],
                counts[Outcome::skipped]);
    if (all.empty()) std::fprintf(stderr, "conformance: no case is called %s\n", options.filter.c_str());
    return counts[Outcome::failed] > 0 || all.empty() ? 1 : 0;
}

}  // namespace conformance
