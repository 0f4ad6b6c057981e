// processes.h: the names and the maps of processes while a recording is read in the order of time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "perfdata/facts.h"
#include "perfdata/reader.h"
#include "profile/strings.h"
#include "symbols/address_space.h"
#include "symbols/dso.h"

namespace anyperf::analysis {

/// The number of an address space. A process gets a new one when it replaces a map that a sample has used, so that the
/// sample's addresses can be looked up at any later time.
using SpaceId = std::uint32_t;

class Processes {
  public:
    Processes(profile::Strings& strings, symbols::Dsos& dsos);

    /// Build ids of files whose maps have none.
    void use_build_ids(const std::vector<perfdata::BuildId>& build_ids);

    /// Follows a COMM, MMAP, MMAP2, FORK or KSYMBOL record; ignores others.
    void follow(const perfdata::Record& record);

    /// The name of a thread now; ":TID" if no record has named it.
    profile::StringId comm(std::uint32_t tid);

    /// The address space of a process now, which a sample uses.
    SpaceId space(std::uint32_t pid);

    const symbols::AddressSpace& operator[](SpaceId id) const { return *spaces_[id].maps; }
    const symbols::AddressSpace& kernel() const { return kernel_; }

    /// Changes with each record that was followed: what was found out before may then be old.
    std::uint64_t version() const { return version_; }

  private:
    using Bytes = perfdata::Bytes;

    struct Space {
        std::unique_ptr<symbols::AddressSpace> maps;
        bool used = false;    // by a sample
        unsigned owners = 1;  // processes: more than one after a fork
    };

    void follow_map(Bytes record);
    void follow_comm(Bytes record);
    void follow_fork(Bytes record);
    void follow_kernel_symbol(Bytes record);
    void map_kernel(const symbols::Map& map);
    void map_user(std::uint32_t pid, const symbols::Map& map);
    SpaceId add_space(symbols::AddressSpace maps);
    void set_space(std::uint32_t pid, SpaceId id);
    SpaceId space_of(std::uint32_t pid);

    profile::Strings& strings_;
    symbols::Dsos& dsos_;
    std::unordered_map<std::string, std::string> build_ids_;  // by path
    std::unordered_map<std::uint32_t, profile::StringId> comms_;
    std::unordered_map<std::uint32_t, SpaceId> process_spaces_;
    std::vector<Space> spaces_;
    symbols::AddressSpace kernel_;
    std::uint64_t version_ = 0;
};

}  // namespace anyperf::analysis
