// library.h: a libpfm.so.4 under test, loaded from a file, so that one process can call two libraries.
#pragma once

#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>

#include <stdexcept>
#include <string>

namespace anyperf::clients {

/// The calls of one library. The constructor throws if the file or a symbol is missing.
class PfmLibrary {
  public:
    explicit PfmLibrary(const std::string& file) : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) throw std::runtime_error{::dlerror()};
        load();
    }
    ~PfmLibrary() { ::dlclose(handle_); }
    PfmLibrary(const PfmLibrary&) = delete;
    PfmLibrary& operator=(const PfmLibrary&) = delete;

    decltype(&::pfm_initialize) initialize = nullptr;
    decltype(&::pfm_terminate) terminate = nullptr;
    decltype(&::pfm_strerror) strerror = nullptr;
    decltype(&::pfm_get_version) get_version = nullptr;
    decltype(&::pfm_get_pmu_info) get_pmu_info = nullptr;
    decltype(&::pfm_get_event_next) get_event_next = nullptr;
    decltype(&::pfm_find_event) find_event = nullptr;
    decltype(&::pfm_get_event_info) get_event_info = nullptr;
    decltype(&::pfm_get_event_attr_info) get_event_attr_info = nullptr;
    decltype(&::pfm_get_os_event_encoding) get_os_event_encoding = nullptr;
    decltype(&::pfm_get_event_encoding) get_event_encoding = nullptr;
    decltype(&::pfm_get_perf_event_encoding) get_perf_event_encoding = nullptr;
    decltype(&::pfm_pmu_validate) pmu_validate = nullptr;

  private:
    template <class Call>
    void find(Call& call, const char* name) {
        call = reinterpret_cast<Call>(::dlsym(handle_, name));
        if (call == nullptr) throw std::runtime_error{::dlerror()};
    }
    void load() {
        find(initialize, "pfm_initialize");
        find(terminate, "pfm_terminate");
        find(strerror, "pfm_strerror");
        find(get_version, "pfm_get_version");
        find(get_pmu_info, "pfm_get_pmu_info");
        find(get_event_next, "pfm_get_event_next");
        find(find_event, "pfm_find_event");
        find(get_event_info, "pfm_get_event_info");
        find(get_event_attr_info, "pfm_get_event_attr_info");
        find(get_os_event_encoding, "pfm_get_os_event_encoding");
        find(get_event_encoding, "pfm_get_event_encoding");
        find(get_perf_event_encoding, "pfm_get_perf_event_encoding");
        find(pmu_validate, "pfm_pmu_validate");
    }

    void* handle_;
};

/// The library of this build, and the one that Debian installs.
inline const std::string kOurs = ANYPERF_BINARY_DIR "/lib/libpfm.so.4";
inline const std::string kDebian = "/usr/lib/x86_64-linux-gnu/libpfm.so.4";

}  // namespace anyperf::clients
