#include "symbols/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace anyperf::symbols {

namespace {

constexpr const char* kLibrary = "libdebuginfod.so.1";
constexpr const char* kUrls = "DEBUGINFOD_URLS";

const unsigned char* bytes_of(const std::string& text) {
    return reinterpret_cast<const unsigned char*>(text.c_str());
}

}  // namespace

struct Debuginfod::Library {
    // The interface of libdebuginfod.so.1 (elfutils/debuginfod.h). A length of 0 says that the build id is a text.
    struct Client;
    using Begin = Client*();
    using End = void(Client*);
    using Find = int(Client*, const unsigned char* build_id, int length, char** path);
    using FindSource = int(Client*, const unsigned char* build_id, int length, const char* source, char** path);
    using Progress = int(Client*, long, long);
    using SetProgress = void(Client*, Progress*);
    using SetUserData = void(Client*, void*);
    using GetUserData = void*(Client*);

    void* handle = nullptr;
    Client* client = nullptr;
    Begin* begin = nullptr;
    End* end = nullptr;
    Find *find_executable = nullptr, *find_debug_info = nullptr;
    FindSource* find_source = nullptr;
    SetProgress* set_progress = nullptr;
    SetUserData* set_user_data = nullptr;
    GetUserData* get_user_data = nullptr;

    Library() = default;
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    // It is not unloaded: libcurl and its libraries may have threads and handlers of their own.
    ~Library() {
        if (client) end(client);
    }

    template <class Function>
    bool load(Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(::dlsym(handle, name));
        return function != nullptr;
    }
    bool load_all() {
        return load(begin, "debuginfod_begin") && load(end, "debuginfod_end") &&
               load(find_executable, "debuginfod_find_executable") &&
               load(find_debug_info, "debuginfod_find_debuginfo") && load(find_source, "debuginfod_find_source") &&
               load(set_progress, "debuginfod_set_progressfn") && load(set_user_data, "debuginfod_set_user_data") &&
               load(get_user_data, "debuginfod_get_user_data");
    }
    /// The path of what `found` has opened; nothing if it is an error.
    static std::optional<std::string> path_of(int found, char* path) {
        if (found >= 0) ::close(found);
        const std::unique_ptr<char, decltype(&std::free)> owner{path, std::free};
        return found >= 0 && path ? std::optional<std::string>{path} : std::nullopt;
    }
};

Debuginfod::Debuginfod(std::unique_ptr<Library> library, OnFetch on_fetch)
    : library_(std::move(library)), on_fetch_(std::move(on_fetch)) {}

Debuginfod::~Debuginfod() = default;

// The library calls the progress function only while it waits for a server, not for files that it has kept.
Result<std::shared_ptr<Debuginfod>> Debuginfod::open(const std::string& urls, OnFetch on_fetch) {
    const auto cannot = [](std::string cause, std::string fix) {
        return std::unexpected(Error{"cannot ask debuginfod servers", std::move(cause), std::move(fix)});
    };
    if (!urls.empty()) ::setenv(kUrls, urls.c_str(), 1);
    const char* servers = std::getenv(kUrls);
    if (!servers || *servers == '\0')
        return cannot("no server is named", "use --debuginfod=URL, or set DEBUGINFOD_URLS");
    auto library = std::make_unique<Library>();
    library->handle = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
        return cannot(::dlerror(), "install elfutils' library, which is the package libdebuginfod1 of Debian");
    if (!library->load_all()) return cannot(std::string{kLibrary} + " is too old", "install elfutils 0.180 or later");
    library->client = library->begin();
    if (!library->client) return cannot(std::string{kLibrary} + " cannot be used", {});
    std::shared_ptr<Debuginfod> opened{new Debuginfod{std::move(library), std::move(on_fetch)}};
    static Library::GetUserData* const get_user_data = opened->library_->get_user_data;
    opened->library_->set_user_data(opened->library_->client, opened.get());
    opened->library_->set_progress(opened->library_->client, [](Library::Client* client, long, long) {
        auto& self = *static_cast<Debuginfod*>(get_user_data(client));
        if (const std::string what = std::exchange(self.fetched_, {}); !what.empty() && self.on_fetch_)
            self.on_fetch_(what);
        return 0;  // go on
    });
    return opened;
}

std::optional<std::string> Debuginfod::executable(const std::string& build_id) {
    fetched_ = "the executable of " + build_id;
    char* path = nullptr;
    const int opened = library_->find_executable(library_->client, bytes_of(build_id), 0, &path);
    return Library::path_of(opened, path);
}

std::optional<std::string> Debuginfod::debug_info(const std::string& build_id) {
    fetched_ = "the debugging information of " + build_id;
    char* path = nullptr;
    const int opened = library_->find_debug_info(library_->client, bytes_of(build_id), 0, &path);
    return Library::path_of(opened, path);
}

std::optional<std::string> Debuginfod::source(const std::string& build_id, const std::string& path) {
    if (!path.starts_with('/')) return {};
    fetched_ = "the source " + path;
    char* copy = nullptr;
    const int opened = library_->find_source(library_->client, bytes_of(build_id), 0, path.c_str(), &copy);
    return Library::path_of(opened, copy);
}

}  // namespace anyperf::symbols
