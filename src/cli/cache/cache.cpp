// cache.cpp: `anyperf cache`: what is in the directory of stored translations (broker/launch/code_store.h).
#include "cli/cache/cache.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "broker/launch/code_store.h"
#include "host/printable.h"
#include "try.h"

namespace anyperf::cli {

namespace {

struct Options {
    bool clear = false;
    bool json = false;
};

using Files = std::vector<broker::CodeStoreFile>;

std::uint64_t bytes_of(const Files& files) {
    std::uint64_t bytes = 0;
    for (const broker::CodeStoreFile& file : files) bytes += file.bytes;
    return bytes;
}

/// "1.5 MB".
std::string size_text(std::uint64_t bytes) {
    constexpr double kMega = 1e6;
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / kMega);
}

std::string as_text(const std::string& path, const Files& files) {
    std::string text = fmt::format("{}: {} files, {} of {}\n", host::printable(path), files.size(),
                                   size_text(bytes_of(files)), size_text(broker::kMostCodeStoreBytes));
    for (const broker::CodeStoreFile& file : files)
        text +=
            fmt::format("{:>10} {:>8} blocks  {:>2} classes  {}\n", size_text(file.bytes), file.blocks, file.classes,
                        file.program.empty() ? "(damaged, or of another version)" : host::printable(file.program));
    return text;
}

std::string as_json(const std::string& path, const Files& files) {
    nlohmann::ordered_json json;
    json["directory"] = path;
    json["bytes"] = bytes_of(files);
    json["limit"] = broker::kMostCodeStoreBytes;
    json["files"] = nlohmann::ordered_json::array();
    for (const broker::CodeStoreFile& file : files)
        json["files"].push_back({{"name", file.name},
                                 {"bytes", file.bytes},
                                 {"translated", file.program},
                                 {"blocks", file.blocks},
                                 {"classes", file.classes}});
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<int> show(const Options& options, Output& out) {
    const auto [path, chosen] = broker::code_store_place();
    if (path.empty())
        return std::unexpected(
            Error{"no translations are kept",
                  chosen ? "ANYPERF_CACHE_DIR is empty" : "neither XDG_CACHE_HOME nor HOME names a directory",
                  "set ANYPERF_CACHE_DIR to a directory that only you can use"});
    if (const std::string defect = broker::code_store_defect(path); !defect.empty())
        return std::unexpected(Error{"no translations are kept in " + host::printable(path), defect,
                                     "set ANYPERF_CACHE_DIR to a directory that only you can use"});
    if (options.clear) {
        const Files removed = TRY(broker::clear_code_store(path));
        out.print(fmt::format("removed {} files, {}\n", removed.size(), size_text(bytes_of(removed))));
        return 0;
    }
    const Files files = TRY(broker::files_of_code_store(path));
    out.print(options.json ? as_json(path, files) : as_text(path, files));
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    CLI::Option* const clear = verb.add_flag("--clear", options->clear, "remove all of them");
    verb.add_flag("--json", options->json, "print one JSON object")->excludes(clear);
    return [options](Output& out) { return show(*options, out); };
}

}  // namespace

constinit const Verb kCache{"cache", "show or remove the translations that are kept for later runs", declare};

}  // namespace anyperf::cli
