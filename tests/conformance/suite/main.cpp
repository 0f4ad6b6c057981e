// main.cpp: `conformance`: statements about perf_event_open(2), checked on whatever serves it here.
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
    "  --list               the cases and their statements\n"
    "  --filter GLOB        only these, of AREA/CASE\n"
    "  --json FILE          write the outcomes there\n"
    "  --has NEED,...       what must be there: cases that lack it fail instead of being skipped (hardware, "
    "breakpoint, ...)\n"
    "  --differences FILE   table of cases that are known to differ: case, what, why\n"
    "  --sysctls            cases may change /proc/sys/kernel: nobody else shares it\n"
    "  --timeout SECONDS    of one case (20)\n"
    "  --quiet              no lines for cases that pass\n";

/// The options; false where one is unknown.
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
