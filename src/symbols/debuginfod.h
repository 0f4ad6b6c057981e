// debuginfod.h: files from debuginfod servers, which have the programs and the debugging information of distributions
// by build id (debuginfod(8), debuginfod_find_debuginfo(3)). Only the user can ask for it: a request tells a server on
// the network which programs run here.
//
// The client is elfutils' library, which is loaded when it is asked for: it needs libcurl and what that needs. It keeps
// the files that it has got in a directory of its own, and asks no server for them again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "anyperf/error.h"

namespace anyperf::symbols {

class Debuginfod {
  public:
    /// Called before a file is waited for, with what is fetched: "the executable of 0123abcd…".
    using OnFetch = std::function<void(const std::string&)>;

    /// `urls` are the servers, separated by blanks; empty: those of DEBUGINFOD_URLS. Fails if no server is named, or if
    /// the library is not installed. Given servers become those of the environment, which is where the library looks.
    static Result<std::shared_ptr<Debuginfod>> open(const std::string& urls, OnFetch on_fetch);

    Debuginfod(const Debuginfod&) = delete;
    Debuginfod& operator=(const Debuginfod&) = delete;
    ~Debuginfod();

    /// The path of a local copy; nothing if no server has the file. `build_id` is hexadecimal. Not thread-safe.
    std::optional<std::string> executable(const std::string& build_id);
    std::optional<std::string> debug_info(const std::string& build_id);
    /// The same of a source file; `path` is that in the debugging information. Only absolute paths are asked for.
    std::optional<std::string> source(const std::string& build_id, const std::string& path);

  private:
    struct Library;
    Debuginfod(std::unique_ptr<Library> library, OnFetch on_fetch);

    std::unique_ptr<Library> library_;
    OnFetch on_fetch_;
    std::string fetched_;  // what is asked for, until on_fetch_ was called
};

}  // namespace anyperf::symbols
