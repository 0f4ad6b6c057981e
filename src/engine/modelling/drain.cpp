// drain.cpp: replays the records of a thread in its models. What the records mean: cache/recorded_segment.h.
//
// A record is words: the number of its RecordedSegment, then the values of the registers that the segment's addresses
// depend on. Everything constant (which instruction accesses what, by which register and displacement) is in the
// RecordedSegment, which translation made once. So the record is short, and this does the arithmetic instead.
//
// The last record may be incomplete: the thread may have left its segment in the middle, by a fault or a signal.
// RecordStream::last_ran says how many of its instructions have run; the rest of the segment is not replayed, and its
// branch has gone nowhere yet.
#include <asm/prctl.h>

#include "engine/modelling/modelling.h"
#include "engine/modelling/thread_models.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/effective_address.h"

namespace anyperf::engine {

namespace {

using models::Access;
using x86_64::Control;
using Kind = RecordedAccess::Kind;

std::uint64_t read_fs_base() {
    std::uint64_t base = 0;
    kernel_call(__NR_arch_prctl, ARCH_GET_FS, address_of(&base));
    return base;
}

Access access_of(Kind kind) {
    switch (kind) {
        case Kind::modify: return Access::modify;
        case Kind::store:
        case Kind::store_while: return Access::store;
        default: return Access::load;
    }
}

/// Replays segments of one thread. The lock of the models is held.
class Replay {
  public:
    Replay(Thread& thread, ThreadModels& models) : thread_(thread), models_(models), core_(models.core) {}

    /// `ran`: how many instructions of the segment have run. `next`: where the program went on after them.
    void segment(const RecordedSegment& segment, const std::uint64_t* words, unsigned ran, std::uint64_t next) {
        Cache& cache = thread_.engine->cache;
        const Mark* mark = cache.blocks[segment.block].marks + segment.first;
        const RecordedAccess* access = &cache.recorded_accesses[segment.first_access];
        const RecordedAccess* const end = access + segment.accesses;
        std::uint64_t pc = segment.pc;
        std::uint64_t last = pc;
        for (unsigned i = 0; i < ran; ++i, ++mark) {
            core_.fetch(pc, mark->guest_length);
            while (access != end && access->instruction == i) access = replay(access, end, words, pc);
            last = pc;
            pc += mark->guest_length;
        }
        if (ran != 0 && ran == segment.instructions) branch(segment.control, last, pc, next);
    }

  private:
    /// The address of one access. A word of 0 is the record's number, so an index of 0 means "no register".
    std::uint64_t address_of_access(const RecordedAccess& access, const std::uint64_t* words) {
        auto address = static_cast<std::uint64_t>(access.displacement);
        if (access.base != 0) address += words[access.base];
        if (access.index != 0) {
            const std::uint64_t index = words[access.index];
            address += access.byte_index != 0 ? index & 0xff : index << access.scale;
        }
        if (access.address32 != 0) address &= 0xffffffffu;
        if (access.in_fs != 0) address += fs_base();
        if (access.in_gs != 0) address += thread_.gs_base;
        return address;
    }

    std::uint64_t fs_base() {
        if (!models_.knows_fs_base) models_.fs_base = read_fs_base();
        models_.knows_fs_base = true;
        return models_.fs_base;
    }

    /// Replays one access, or both of a REP string instruction. Returns the next one.
    const RecordedAccess* replay(const RecordedAccess* access, const RecordedAccess* end, const std::uint64_t* words,
                                 std::uint64_t pc) {
        if (access->kind == Kind::fs_base) {
            models_.fs_base = words[access->base];
            models_.knows_fs_base = true;
            return access + 1;
        }
        if (access->kind == Kind::load_while || access->kind == Kind::store_while) {
            const RecordedAccess* const other = access + 1;
            const bool both = other != end && other->instruction == access->instruction;
            repeat(*access, both ? other : nullptr, words, pc);
            return both ? other + 1 : other;
        }
        core_.access(pc, address_of_access(*access, words), access->bytes, access_of(access->kind));
        return access + 1;
    }

    /// The iterations of a REP string instruction, from the values of its pointer before and after it.
    void repeat(const RecordedAccess& one, const RecordedAccess* other, const std::uint64_t* words, std::uint64_t pc) {
        const std::uint64_t before = words[one.base] + static_cast<std::uint64_t>(one.displacement);
        // How far the pointer has moved says how often the instruction repeated, in either direction (DF), and whether
        // rcx or a comparison ended it.
        auto moved = static_cast<std::int64_t>(words[one.after] - before);
        if (one.address32 != 0) moved = static_cast<std::int32_t>(moved);
        const auto step = static_cast<std::uint64_t>(moved < 0 ? -std::int64_t{one.bytes} : std::int64_t{one.bytes});
        const std::uint64_t times = static_cast<std::uint64_t>(moved < 0 ? -moved : moved) / one.bytes;
        std::uint64_t at = address_of_access(one, words);
        std::uint64_t at_other = other != nullptr ? address_of_access(*other, words) : 0;
        for (std::uint64_t i = 0; i < times; ++i, at += step, at_other += step) {
            core_.access(pc, at, one.bytes, access_of(one.kind));
            if (other != nullptr) core_.access(pc, at_other, one.bytes, access_of(other->kind));
        }
    }

    /// The segment's last instruction is at `pc`, and the one after it at `end`. A conditional branch to that one
    /// counts as not taken.
    void branch(Control control, std::uint64_t pc, std::uint64_t end, std::uint64_t next) {
        models::Branches& branches = models_.branches;
        switch (control) {
            case Control::conditional:
            case Control::rcx_branch: branches.conditional(pc, next, next != end); break;
            case Control::jump: branches.jump(pc, next); break;
            case Control::jump_indirect: branches.indirect_jump(pc, next); break;
            case Control::call: branches.call(pc, next, end); break;
            case Control::call_indirect: branches.indirect_call(pc, next, end); break;
            case Control::ret: branches.ret(pc, next); break;
            default: break;
        }
    }

    Thread& thread_;
    ThreadModels& models_;
    models::Core& core_;
};

void replay_all(Thread& thread, ThreadModels& models, std::uint64_t next) {
    const RecordStream& records = thread.records;
    Cache& cache = thread.engine->cache;
    const std::uint64_t* at = records.words;
    const std::uint64_t* const end = at + (records.top - RecordStream::kEmpty) / 8;
    Replay replay{thread, models};
    while (at != end) {
        const RecordedSegment& segment = cache.recorded_segments[static_cast<std::uint32_t>(*at)];
        const std::uint64_t* const words = at;
        at += segment.words;
        const bool whole = at != end || records.last_ran == RecordStream::kWhole;
        const unsigned ran = whole ? segment.instructions : records.last_ran;
        replay.segment(segment, words, ran,
                       at != end ? cache.recorded_segments[static_cast<std::uint32_t>(*at)].pc : next);
    }
}

}  // namespace

void feed_models(Thread& thread, std::uint64_t next) {
    if (ThreadModels* const models = thread.models) {
        const LockGuard held{thread.engine->modelling.lock};
        // With one core for all threads its counts go to whichever thread feeds it now.
        models->core.count_into(thread.page.counters.modelled);
        replay_all(thread, *models, next);
        // The system call that may follow can change it (arch_prctl(2)).
        if (thread.exit_reason == x86_64::ExitReason::emulate) models->knows_fs_base = false;
    }
    thread.records.top = RecordStream::kEmpty;
    thread.records.last_ran = RecordStream::kWhole;
}

// Bytes and operands are read after the instruction: if it has changed its own code, what is modelled is the new one.
void model_instruction(Thread& thread, const x86_64::Registers& before) {
    ThreadModels* const models = thread.models;
    std::uint8_t code[x86_64::kLongestInstruction] = {};
    x86_64::Instruction instruction;
    if (models == nullptr) return;
    const std::size_t size = x86_64::guarded_prefix(code, at_address<const void>(before.rip), sizeof code);
    if (size == 0 || decode(code, size, instruction) != x86_64::DecodeStatus::ok) return;
    const x86_64::Accesses accesses = x86_64::accesses_of(instruction, code, before, {read_fs_base(), thread.gs_base});
    const LockGuard held{thread.engine->modelling.lock};
    models->core.count_into(thread.page.counters.modelled);
    models->core.fetch(before.rip, instruction.length);
    for (std::uint32_t i = 0; i < accesses.count; ++i) {
        const x86_64::Access& one = accesses.of[i];
        if (one.bytes == 0) continue;
        const Access kind = !one.writes ? Access::load : one.reads ? Access::modify : Access::store;
        models->core.access(before.rip, one.address, one.bytes, kind);
    }
}

void forget_fetch(Thread& thread) {
    if (thread.models == nullptr) return;
    --thread.page.counters.modelled.values[static_cast<std::size_t>(models::Quantity::code_references)];
}

}  // namespace anyperf::engine
