// bench_file.h: the file of `anyperf bench`: the commands to measure, as TOML. docs/man/anyperf-bench.1.scd describes
// each key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "cli/stat/options.h"

namespace anyperf::cli::bench {

/// One command. The keys of the file's top level are the defaults of every bench.
struct Bench {
    std::string name;                  ///< unique in the file
    std::vector<std::string> command;  ///< at least one word; a string in the file is {"/bin/sh", "-c", string}
    std::string directory;             ///< absolute path: where set-up and command run
    std::string setup;                 ///< a shell command, run once before the runs and not counted; empty: none
    std::string input;                 ///< absolute path of standard input; empty: /dev/null
    std::map<std::string, std::string> environment;  ///< all variables that the command gets
    std::vector<std::string> events;                 ///< at least one, as for `stat -e`
    std::vector<stat::Gate> limits;                  ///< empty: counts that repeat may not grow at all
    int runs = 2;                                    ///< 2 to 10,000
    std::uint64_t seed = 0;
    bool turns = true;      ///< one thread at a time, so that threads and processes repeat
    std::string cpu_model;  ///< empty: that of `stat --virtual`
    std::string machine;    ///< empty: that of the CPU model
};

struct BenchFile {
    std::vector<Bench> benches;  ///< at least one, in the order of the file
    std::string baseline;        ///< absolute path; empty: the file names none
};

/// Reads and checks a file. Relative paths in it are relative to its own directory. Error: the file cannot be read, is
/// not TOML, or has a wrong key or value. For a wrong key or value, and for invalid TOML, the cause begins with "line
/// L, column C". For an unknown key the fix suggests the nearest one.
Result<BenchFile> read_bench_file(const std::string& path);

/// The same for text; `path` is what errors call it, and its directory is the base of relative paths.
Result<BenchFile> parse_bench_file(std::string_view text, const std::string& path);

}  // namespace anyperf::cli::bench
