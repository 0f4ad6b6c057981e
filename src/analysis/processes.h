// processes.h: the names and the maps of processes while a recording is read in the order of time.
//
// Address spaces over time
//
// The problem: a sample has a pid and an address; what was mapped there is known at that moment of the recording. Names
// are looked up after the last record, when the process may have mapped something else at the address, or may have run
// another program. Naming each sample at once was rejected: it would look up the same address a million times, and read
// the symbols of files in the order in which samples happen to come.
//
// The mechanism: a sample keeps the number of an address space. As long as a process only adds maps, its space grows.
// When a map would replace one, and a sample has used the space, the process goes on with a changed copy under a new
// number. A fork shares its parent's space until one of the two maps something (`owners`), as the kernel shares pages:
// a process that only forks workers has one set of maps.
//
// What it follows: MMAP and MMAP2, COMM, FORK, KSYMBOL, NAMESPACES, CGROUP. EXIT is ignored: samples of the last
// moments may follow it, and a pid that is used again comes with a FORK. munmap(2) has no record at all, so a map ends
// only where another begins.
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

/// The state of all processes at one moment of the recording. `strings` and `dsos` must outlive it; the maps refer to
/// dsos, and names are interned.
class Processes {
  public:
    Processes(profile::Strings& strings, symbols::Dsos& dsos);

    /// Build ids of files whose maps have none. They apply to maps that are followed from now on.
    void use_build_ids(const std::vector<perfdata::BuildId>& build_ids);

    /// Follows a COMM, MMAP, MMAP2, FORK, KSYMBOL, NAMESPACES or CGROUP record; ignores others.
    void follow(const perfdata::Record& record);

    /// A task's cgroup namespace; zeros if no record has named it.
    struct Namespace {
        std::uint64_t device = 0, inode = 0;
    };
    Namespace cgroup_namespace(std::uint32_t tid) const {
        const auto known = namespaces_.find(tid);
        return known == namespaces_.end() ? Namespace{} : known->second;
    }
    /// The names of cgroups, by the numbers that samples have.
    const std::unordered_map<std::uint64_t, profile::StringId>& cgroups() const { return cgroups_; }

    /// The name of a thread now; ":TID" if no record has named it.
    profile::StringId comm(std::uint32_t tid);

    /// The address space of a process now, which a sample uses.
    SpaceId space(std::uint32_t pid);

    /// Adds a map that no record has.
    void add_map(std::uint32_t pid, const symbols::Map& map) {
        map_user(pid, map);
        ++version_;
    }

    /// The process has ended: it has no name and no maps any more. Its space stays valid until drop_ended().
    void end(std::uint32_t pid);
    /// Frees the spaces that no process has any more, except those `in_use`, whose samples are still to be named: those
    /// of ended processes, and those that were replaced by changed copies. Returns whether there were some. A reader of
    /// a whole recording never calls it, since it looks at all spaces at the end.
    bool drop_ended(const std::vector<SpaceId>& in_use = {});

    /// The maps of a space. The reference stays valid, its contents grow.
    const symbols::AddressSpace& operator[](SpaceId id) const { return *spaces_[id].maps; }
    /// The kernel's maps, which all processes have. They have no versions: a module that replaces another during a
    /// recording gets the samples of both.
    const symbols::AddressSpace& kernel() const { return kernel_; }

    /// Changes with each record that was followed: what was found out before may then be old.
    std::uint64_t version() const { return version_; }

  private:
    using Bytes = perfdata::Bytes;

    struct Space {
        std::unique_ptr<symbols::AddressSpace> maps;
        bool used = false;    // by a sample
        unsigned owners = 1;  // processes: more than one after a fork, 0 when the last one has ended
    };

    void follow_map(Bytes record);
    void follow_comm(Bytes record);
    void follow_fork(Bytes record, bool has_executed);
    void follow_kernel_symbol(Bytes record);
    void map_kernel(const symbols::Map& map);
    void map_user(std::uint32_t pid, const symbols::Map& map);
    SpaceId add_space(symbols::AddressSpace maps);
    void set_space(std::uint32_t pid, SpaceId id);
    void release(SpaceId id);
    SpaceId space_of(std::uint32_t pid);

    profile::Strings& strings_;
    symbols::Dsos& dsos_;
    std::unordered_map<std::string, std::string> build_ids_;        // by path
    std::unordered_map<std::uint32_t, profile::StringId> comms_;    // by tid
    std::unordered_map<std::uint32_t, SpaceId> process_spaces_;     // by pid
    std::unordered_map<std::uint32_t, Namespace> namespaces_;       // by tid
    std::unordered_map<std::uint64_t, profile::StringId> cgroups_;  // by number
    std::vector<Space> spaces_;
    std::vector<SpaceId> ended_;  // without an owner
    std::vector<SpaceId> free_;   // after drop_ended()
    symbols::AddressSpace kernel_;
    std::uint64_t version_ = 0;
};

}  // namespace anyperf::analysis
