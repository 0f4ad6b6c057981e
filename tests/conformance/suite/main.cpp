// main.cpp: the program `conformance` checks statements about perf_event_open(2) against the implementation that it
// runs on.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "suite/runner.h"
#include "suite/workload.h"

namespace {

constexpr const char* kUsage =
    "usage: conformance [OPTION...]\n"
    "  --list               list the cases and their statements\n"
    "  --filter GLOB        run only the cases whose AREA/CASE matches\n"
    "  --json FILE          write the outcomes to FILE\n"
    "  --has NEED,...       what the machine must have: cases that miss it fail instead of being skipped (hardware, "
    "breakpoint, ...)\n"
    "  --differences FILE   table of cases that are known to differ: case, what, why\n"
    "  --sysctls            cases may change /proc/sys/kernel: no other process depends on it\n"
    "  --timeout SECONDS    limit for one case (20)\n"
    "  --quiet              don't print cases that pass\n";

/// Parses the options; returns false if one is unknown.
bool parse(std::span<char*> arguments, conformance::Options& options) {
    const auto value = [&](std::size_t& i) { return i + 1 < arguments.size() ? arguments[++i] : ""; };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view name = arguments[i];
        if (name == "--list")
            options.list = true;
        else if (name == "--quiet")
            options.quiet = true;
        else if (name == "--sysctls")
            options.sysctls = true;
        else if (name == "--filter")
            options.filter = value(i);
        else if (name == "--json")
            options.json = value(i);
        else if (name == "--has")
            options.has = value(i);
        else if (name == "--differences")
            options.differences = value(i);
        else if (name == "--timeout")
            options.timeout_seconds = std::atoi(value(i));
        else
            return false;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--helper") == 0) return conformance::helper({argv + 2, argv + argc});
    conformance::Options options;
    if (!parse({argv + 1, argv + argc}, options)) {
        std::fputs(kUsage, stderr);
        return 125;
    }
    return conformance::run(options);
}
