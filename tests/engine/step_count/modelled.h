// modelled.h: what the models of caches, TLBs and branch predictors count for a program that is stepped: the plain
// simulator of tests/unit/models, fed with each access of each instruction. The addresses come from Zydis and from the
// registers before the instruction, not from the engine's tables.
#pragma once

#include <sys/user.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/branches/branch_unit.h"
#include "models/machines/presets.h"
#include "unit/models/plain_machine.h"

namespace anyperf::step_count {

/// A core of each preset, all fed with the same stream.
class Modelled {
  public:
    /// What is known of an instruction that has retired, or of an iteration of a REP.
    struct Step {
        std::span<const std::uint8_t> bytes;
        user_regs_struct before{};
        std::uint64_t next = 0;  ///< where the program went on
        bool taken = false;      ///< of a conditional branch
        bool is_first = true;    ///< not a later iteration of a REP: the instruction is fetched
        bool accesses = true;    ///< not a REP with a count of 0
    };

    Modelled();
    /// From now on lists each access of an instruction that is no string instruction, as `machine` sees it: "address of
    /// the instruction, address, l or s, source, misses of the first TLB, page walks". One that is read and written is
    /// a load.
    void list_accesses(std::string machine, std::ostream& list) { listed_ = std::move(machine), list_ = &list; }
    /// From now on lists each taken branch, as the predictors of `machine` see it: "from to 1", or 0 if it was
    /// predicted. Far branches are left out, and those to the next instruction.
    void list_branches(std::string machine, std::ostream& list) {
        branches_listed_ = std::move(machine), branch_list_ = &list;
    }
    void retire(const Step& step);

    struct Total {
        std::string machine;
        models::Counts counts;
    };
    [[nodiscard]] std::vector<Total> totals() const;

  private:
    struct One {
        explicit One(const models::Preset& preset);

        std::string name;
        std::unique_ptr<models::testing::PlainMachine> caches;
        std::vector<std::uint64_t> memory;
        std::unique_ptr<models::Counts> branch_counts;
        std::unique_ptr<models::Branches> branches;
    };
    struct Access {
        std::uint64_t address = 0;
        unsigned bytes = 0;
        models::Access kind = models::Access::load;
    };

    static std::vector<Access> accesses_of(const Step& step);
    static bool is_string(const Step& step);
    static bool branch(const Step& step, models::Branches& branches);
    static bool is_taken(const Step& step);

    std::vector<One> machines_;
    std::string listed_;
    std::ostream* list_ = nullptr;
    std::string branches_listed_;
    std::ostream* branch_list_ = nullptr;
};

}  // namespace anyperf::step_count
