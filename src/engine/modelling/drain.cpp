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
///
/// A segment has one list of what its code does in memory, in order: accesses, and fetches that begin or end in another
/// line than the instruction before them ended in. All other fetches hit the line that was touched last and change
/// nothing, so they are only counted, as are accesses that repeat (Core::repeats_access()). One thing can come between
/// two fetches of a line: a data access that makes an inclusive last level take the line away. Then the rest of the
/// segment is replayed instruction by instruction.
class Replay {
  public:
    Replay(Thread& thread, ThreadModels& models) : thread_(thread), models_(models), core_(models.core) {}

    void whole(const RecordedSegment& segment, const std::uint64_t* words) {
        const RecordedAccess* access = first_access(segment);
        const RecordedAccess* const end = access + segment.accesses;
        const std::uint32_t losses = core_.code_losses();
        repeated_.fetches += segment.instructions;
        while (access != end) {
            const RecordedAccess& one = *access;
            access = replay(access, end, words, segment.pc + one.offset);
            if (core_.code_losses() != losses) [[unlikely]]
                return rest(segment, one, access, words);
        }
    }

    /// Of a segment that was left in the middle, the first `ran` instructions.
    void part(const RecordedSegment& segment, const std::uint64_t* words, unsigned ran) {
        replay_each(segment, first_access(segment), words, 0, ran);
    }

    /// The segment's last instruction went to `next`. A conditional branch to the instruction after it counts as not
    /// taken.
    void branch(const RecordedSegment& segment, std::uint64_t next) {
        models::Branches& branches = models_.branches;
        const std::uint64_t end = segment.pc + segment.bytes;
        const std::uint64_t pc = end - segment.last_bytes;
        switch (segment.control) {
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

    /// To be called after the last segment.
    void finish() { core_.count_repeated(repeated_); }

  private:
    const RecordedAccess* first_access(const RecordedSegment& segment) const {
        return &thread_.engine->cache.recorded_accesses[segment.first_access];
    }

    /// Replays the instructions `from` to `to` one by one; `access` is the first that may belong to them.
    void replay_each(const RecordedSegment& segment, const RecordedAccess* access, const std::uint64_t* words,
                     unsigned from, unsigned to) {
        const Mark* const marks = thread_.engine->cache.blocks[segment.block].marks + segment.first;
        const RecordedAccess* const end = first_access(segment) + segment.accesses;
        std::uint64_t pc = segment.pc;
        for (unsigned i = 0; i < from; ++i) pc += marks[i].guest_length;
        for (unsigned i = from; i < to; pc += marks[i].guest_length, ++i) {
            core_.fetch(pc, marks[i].guest_length);
            while (access != end && access->offset == pc - segment.pc)
                access = access->kind == Kind::fetch ? access + 1 : replay(access, end, words, pc);
        }
    }

    /// Replays what comes after `last` in the segment. whole() has counted all fetches, of which some follow here.
    void rest(const RecordedSegment& segment, const RecordedAccess& last, const RecordedAccess* access,
              const std::uint64_t* words) {
        const RecordedAccess* const end = first_access(segment) + segment.accesses;
        const Mark* const marks = thread_.engine->cache.blocks[segment.block].marks + segment.first;
        while (access != end && access->offset == last.offset)
            access = replay(access, end, words, segment.pc + last.offset);
        unsigned from = 0;
        for (unsigned offset = 0; offset <= last.offset; ++from) offset += marks[from].guest_length;
        repeated_.fetches -= segment.instructions - from;
        replay_each(segment, access, words, from, segment.instructions);
    }

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

    /// Replays one access or fetch, or both accesses of a REP string instruction. Returns the next one.
    const RecordedAccess* replay(const RecordedAccess* access, const RecordedAccess* end, const std::uint64_t* words,
                                 std::uint64_t pc) {
        switch (access->kind) {
            case Kind::fetch: fetch(*access); return access + 1;
            case Kind::load:
            case Kind::store:
            case Kind::modify:
                touch(pc, address_of_access(*access, words), access->bytes, access_of(access->kind));
                return access + 1;
            case Kind::fs_base:
                models_.fs_base = words[access->base];
                models_.knows_fs_base = true;
                return access + 1;
            case Kind::load_while:
            case Kind::store_while: break;
        }
        const RecordedAccess* const other = access + 1;
        const bool both = other != end && other->offset == access->offset && other->kind != Kind::fetch;
        repeat(*access, both ? other : nullptr, words, pc);
        return both ? other + 1 : other;
    }

    /// The fetch is counted already.
    void fetch(const RecordedAccess& access) {
        const auto pc = static_cast<std::uint64_t>(access.displacement);
        if (core_.repeats_fetch(pc, access.bytes)) return;
        --repeated_.fetches;
        core_.fetch(pc, access.bytes);
    }

    void touch(std::uint64_t pc, std::uint64_t address, unsigned bytes, Access kind) {
        if (!core_.repeats_access(address, bytes, kind)) {
            core_.access(pc, address, bytes, kind);
        } else if (kind == Access::store) {
            ++repeated_.stores;
        } else {
            ++repeated_.loads;
            core_.load_repeated(pc, address);
        }
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
            touch(pc, at, one.bytes, access_of(one.kind));
            if (other != nullptr) touch(pc, at_other, other->bytes, access_of(other->kind));
        }
    }

    Thread& thread_;
    ThreadModels& models_;
    models::Core& core_;
    models::Core::Repeated repeated_;
};

void replay_all(Thread& thread, ThreadModels& models, std::uint64_t next) {
    const RecordStream& records = thread.records;
    Cache& cache = thread.engine->cache;
    const std::uint64_t* at = records.words;
    const std::uint64_t* const end = at + (records.top - RecordStream::kEmpty) / 8;
    Replay replay{thread, models};
    const RecordedSegment* segment = &cache.recorded_segments[static_cast<std::uint32_t>(*at)];
    while (true) {
        const std::uint64_t* const words = at;
        at += segment->words;
        if (at == end) break;
        const RecordedSegment* const following = &cache.recorded_segments[static_cast<std::uint32_t>(*at)];
        replay.whole(*segment, words);
        replay.branch(*segment, following->pc);
        segment = following;
    }
    const std::uint64_t* const words = end - segment->words;
    if (records.last_ran < segment->instructions) {
        replay.part(*segment, words, records.last_ran);
    } else {
        replay.whole(*segment, words);
        if (segment->instructions != 0) replay.branch(*segment, next);
    }
    replay.finish();
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
