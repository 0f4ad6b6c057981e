// replay_code.cpp: the sequences of replay_code.h. Each function that writes one has its listing.
#include "engine/modelling/replay_code.h"

#include <cstddef>

#include "engine/engine.h"
#include "engine/freestanding/pages.h"
#include "engine/modelling/replay.h"
#include "engine/modelling/replay_emitter.h"

namespace anyperf::engine {

namespace {

using Kind = RecordedAccess::Kind;
using Frame = ReplayCode::Frame;
using namespace x86_64;  // the names of registers

constexpr std::size_t kBytes = std::size_t{32} << 20;
/// More than the code of the longest segment has: 64 instructions with a fetch and two accesses each.
constexpr std::size_t kLongestCode = std::size_t{32} << 10;
/// A segment with more accesses and fetches gets no code: it is rare, and one that long is not dominated by decisions.
constexpr unsigned kMostAccesses = 64;

const RecordedSegment& segment_of(const Frame& frame, const std::uint64_t* record) {
    return frame.segments[static_cast<std::uint32_t>(*record)];
}

// What the code calls. Those with a result return whether L1I has lost a line meanwhile, perhaps one of the segment.

/// A fetch that does not repeat. The code has counted it as if it did.
bool fetch_anew(Frame& frame, const RecordedAccess* access, const std::uint64_t*, std::uint64_t) {
    Replay& replay = *frame.replay;
    models::Core& core = *frame.core;
    const auto start = static_cast<std::uint64_t>(access->displacement);
    if (core.hits_code(start, access->bytes)) return false;
    const std::uint32_t losses = core.code_losses();
    --replay.repeated().fetches;
    replay.fetch_anew(start, access->bytes);
    return core.code_losses() != losses;
}

/// A load or store that does not repeat. The code has counted it as if it did.
bool access_anew(Frame& frame, const RecordedAccess* access, const std::uint64_t* record, std::uint64_t address) {
    Replay& replay = *frame.replay;
    models::Core& core = *frame.core;
    const models::Access kind = access_of(access->kind);
    const std::uint64_t pc = segment_of(frame, record).pc + access->offset;
    const std::uint32_t losses = core.code_losses();
    if (core.hits_data(pc, address, access->bytes, kind)) return core.code_losses() != losses;
    models::Core::Repeated& repeated = replay.repeated();
    --(kind == models::Access::store ? repeated.stores : repeated.loads);
    replay.at(record);
    replay.access_anew(pc, address, access->bytes, kind, access->after != 0);
    return core.code_losses() != losses;
}

/// Any access, which the code has not counted.
bool access_uncounted(Frame& frame, const RecordedAccess* access, const std::uint64_t* record, std::uint64_t) {
    Replay& replay = *frame.replay;
    const std::uint32_t losses = replay.core().code_losses();
    const RecordedSegment& segment = segment_of(frame, record);
    replay.replay(access, replay.first_access(segment) + segment.accesses, record, segment.pc + access->offset);
    return replay.core().code_losses() != losses;
}

/// A load that hit, and whose distance the prefetcher has to look at.
bool train(Frame& frame, const RecordedAccess* access, const std::uint64_t* record, std::uint64_t address) {
    models::Core& core = frame.replay->core();
    const std::uint32_t losses = core.code_losses();
    core.train(segment_of(frame, record).pc + access->offset, address);
    return core.code_losses() != losses;
}

void branch(Frame& frame, const RecordedSegment* segment, std::uint64_t next) {
    frame.replay->branch(*segment, next);
}

/// Whether the code leaves the access to access_uncounted(): strings, and addresses with a segment base.
bool is_left_out(const RecordedAccess& access) {
    return access.kind == Kind::load_while || access.kind == Kind::store_while || access.kind == Kind::fs_base ||
           access.in_fs != 0 || access.in_gs != 0;
}

/// What a segment adds to Frame::counted up to an access, exclusively.
std::uint64_t counted(const RecordedAccess* from, const RecordedAccess* to) {
    std::uint64_t sum = 0;
    for (const RecordedAccess* access = from; access != to; ++access) {
        if (access->kind == Kind::fetch || is_left_out(*access)) continue;
        const bool store = access->kind == Kind::store;
        sum += std::uint64_t{1} << (store ? 2 * ReplayCode::kField : ReplayCode::kField);
    }
    return sum;
}

void add_counted(Replay& replay, std::uint64_t sum) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << ReplayCode::kField) - 1;
    replay.repeated().fetches += sum & mask;
    replay.repeated().loads += sum >> ReplayCode::kField & mask;
    replay.repeated().stores += sum >> 2 * ReplayCode::kField & mask;
}

/// The access of a REP instruction that replay() takes together with the one before it.
bool is_second_of_pair(const RecordedAccess* first, const RecordedAccess* access) {
    const auto repeats = [](const RecordedAccess& one) {
        return one.kind == Kind::load_while || one.kind == Kind::store_while;
    };
    return access != first && repeats(*access) && repeats(access[-1]) && access[-1].offset == access->offset;
}

/// The rest of a segment after `last`, at which L1I has lost a line: instruction by instruction, all counted here.
void finish_segment(Frame& frame, const RecordedAccess* last, const std::uint64_t* record) {
    Replay& replay = *frame.replay;
    const RecordedSegment& segment = segment_of(frame, record);
    const RecordedAccess* const first = replay.first_access(segment);
    const RecordedAccess* const end = first + segment.accesses;
    const RecordedAccess* next = last + 1;
    if (next != end && is_second_of_pair(first, next)) ++next;
    add_counted(replay, counted(first, next) + segment.instructions);
    replay.rest(segment, *last, next, record);
}

/// Writes the code of one segment.
class SegmentCode {
  public:
    /// Where branches are noted, Replay::branch() does all of it.
    SegmentCode(ReplayEmitter& out, Replay& replay, const RecordedSegment& segment, const ReplayMemory& memory)
        : out_(out),
          replay_(replay),
          notes_branches_(replay.notes_branches()),
          segment_(segment),
          first_(replay.first_access(segment)),
          path_(replay.core().short_path()),
          routines_(memory.routines),
          gshare_(notes_branches_ ? nullptr : replay.branches().gshare()),
          sites_(replay.branches().sites()),
          leave_(memory.leave) {}

    void write() {
        const RecordedAccess* const end = first_ + segment_.accesses;
        for (const RecordedAccess* access = first_; access != end; ++access)
            if (!is_second_of_pair(first_, access)) write_access(*access);
        const std::uint64_t sum = counted(first_, end) + (segment_.accesses != 0 ? segment_.instructions : 0U);
        if (sum != 0) {
            out_.mov(rax, sum);
            out_.add_to_memory(rax, rbp, offsetof(Frame, counted));
        }
        skip_rest_ = out_.at();
        write_next();
        write_calls();
    }

  private:
    struct Call {
        std::uint8_t* from[2];  ///< operands of the jumps that lead here
        unsigned count;
        bool follows;  ///< if the zero flag is set, only train() is to be called
        const std::uint8_t* back;
        const RecordedAccess* access;
        bool (*function)(Frame&, const RecordedAccess*, const std::uint64_t*, std::uint64_t);
    };

    Call& call(const RecordedAccess& access,
               bool (*function)(Frame&, const RecordedAccess*, const std::uint64_t*, std::uint64_t)) {
        Call& made = calls_[call_count_++];
        made = {.from = {}, .count = 0, .follows = false, .back = nullptr, .access = &access, .function = function};
        return made;
    }
    void jump_there(Call& call, Condition condition) { call.from[call.count++] = out_.jcc_far(condition); }

    void write_access(const RecordedAccess& access) {
        if (access.kind == Kind::fetch) return write_fetch(access);
        if (is_left_out(access)) {
            Call& all = call(access, access_uncounted);
            all.from[all.count++] = out_.jmp_far();
            all.back = out_.at();
            return;
        }
        write_address(access);
        write_check(access);
    }

    //   mov  START, rax ; call fetch ; jc call         for each line of the instruction
    void write_fetch(const RecordedAccess& access) {
        const auto start = static_cast<std::uint64_t>(access.displacement);
        const std::uint64_t second = (start + access.bytes - 1) >> path_.line_shift << path_.line_shift;
        Call& anew = call(access, fetch_anew);
        write_fetch_of_line(anew, start);
        if (second > start) write_fetch_of_line(anew, second);
        anew.back = out_.at();
    }
    void write_fetch_of_line(Call& anew, std::uint64_t address) {
        out_.mov(rax, address);
        out_.call_near(routines_.fetch);
        jump_there(anew, Condition::below);
    }

    /// The address of the access into rax.
    void write_address(const RecordedAccess& access) {
        std::int64_t displacement = access.displacement;
        if (access.base != 0) {
            out_.load(rax, r12, access.base * std::int64_t{8});
        } else {
            out_.mov(rax, static_cast<std::uint64_t>(displacement));
            displacement = 0;
        }
        if (access.index != 0) {
            out_.load(rcx, r12, access.index * std::int64_t{8});
            if (access.byte_index != 0)
                out_.movzx8(rcx, rcx);
            else if (access.scale != 0)
                out_.shl(rcx, access.scale);
            out_.add(rax, rcx);
        }
        if (displacement == static_cast<std::int32_t>(displacement)) {
            if (displacement != 0) out_.lea(rax, rax, static_cast<std::int32_t>(displacement));
        } else {
            out_.mov(rcx, static_cast<std::uint64_t>(displacement));
            out_.add(rax, rcx);
        }
        if (access.address32 != 0) out_.zero_extend32(rax);
    }

    //   lea  BYTES-1(rax), rdx ; load: mov PC, rsi ; lea ENTRY(rbx), r13 ; call ROUTINE ; jc call
    void write_check(const RecordedAccess& access) {
        const bool stores = access.kind != Kind::load;
        const bool loads = access.kind != Kind::store;
        Call& anew = call(access, access_anew);
        anew.follows = loads && path_.prefetches;
        out_.lea(rdx, rax, access.bytes - 1);
        if (anew.follows) write_place_of_load(segment_.pc + access.offset);
        out_.call_near(!loads ? routines_.store : stores ? routines_.modify : routines_.load);
        jump_there(anew, Condition::below);
        anew.back = out_.at();
    }

    void write_place_of_load(std::uint64_t pc) {
        using models::StridePrefetcher;
        const std::size_t entry = StridePrefetcher::index_of(pc) * sizeof(StridePrefetcher::Entry);
        out_.mov(rsi, pc);
        out_.lea(r13, rbx, static_cast<std::int32_t>(path_.strides) + static_cast<std::int32_t>(entry));
    }

    //   lea  WORDS*8(r12), r12
    //   cmp  END(rbp), r12 ; je leave
    //   mov  (r12), r15d ; shl $5, r15 ; add r14, r15       the next segment
    //   the branch, which went there
    //   mov  REPLAY(r15), rdx ; cmp $4096, rdx ; jb leave
    //   jmp  *rdx
    void write_next() {
        out_.lea(r12, r12, static_cast<std::int32_t>(segment_.words * sizeof(std::uint64_t)));
        out_.cmp_memory(r12, rbp, offsetof(Frame, end));
        out_.jcc(Condition::equal, leave_);
        out_.load32(r15, r12, 0);
        static_assert(sizeof(RecordedSegment) == 1U << 5);
        out_.shl(r15, 5);
        out_.add(r15, r14);
        write_branch();
        out_.load(rdx, r15, offsetof(RecordedSegment, replay));
        out_.cmp(rdx, RecordedSegment::kMostReplays);
        out_.jcc(Condition::below, leave_);
        out_.jmp_register(rdx);
    }

    void write_branch() {
        if (!replay_.predicts()) return;
        switch (segment_.control()) {
            case Control::conditional:
            case Control::rcx_branch:
                if (gshare_ != nullptr) return write_conditional();
                break;
            case Control::jump_indirect:
            case Control::call:
            case Control::call_indirect:
            case Control::ret: break;
            default:
                if (!notes_branches_) return;
        }
        out_.mov(rdi, rbp);
        out_.mov(rsi, address_of(&segment_));
        out_.load(rdx, r15, offsetof(RecordedSegment, pc));
        out_.call(address_of(reinterpret_cast<const void*>(branch)));
    }

    // Branches::conditional() without a branch on what the program's branch does:
    //   rsi where it went    ecx 1 if taken    edi what its site has seen    r10d the path    r9 where that is
    void write_conditional() {
        const std::uint64_t end = segment_.pc + segment_.bytes;
        const std::uint64_t pc = end - segment_.last_bytes;
        const std::uint64_t place = replay_.place_of(pc);
        out_.load(rsi, r15, offsetof(RecordedSegment, pc));
        out_.load(r8, rbp, offsetof(Frame, directions));
        out_.mov(rdx, end);
        out_.xor32(rcx, rcx);
        out_.cmp(rsi, rdx);
        out_.set(Condition::not_equal, rcx);
        site_ = static_cast<std::int64_t>(sites_.index_of(place));
        out_.load8(rdi, r8, site_);
        out_.cmp(rdi, models::Sites::kBoth);
        one_way_ = out_.jcc_far(Condition::not_equal);
        out_.load(r9, rbp, offsetof(Frame, history));
        out_.load32(r10, r9, 0);
        write_counter(place);
        write_path(place, place - pc);
        after_branch_ = out_.at();
    }

    //   mov COUNTERS(rbp), r11 ; add r10, r11 ; lea SITE(r11), r11
    //   movsx (r11), edi                                    the counter, -2 to 1: not negative predicts "taken"
    //   mov edi, eax ; shr $31, eax ; xor ecx, eax ; xor $1, eax ; add rax, (r8)       wrong
    //   xor edx, edx ; sub eax, edx ; and RESOLVING, edx ; add rdx, RESOLVED(rbp)
    //   lea -1(rdi,rcx,2), edi, between -2 and 1            train
    void write_counter(std::uint64_t place) {
        out_.load(r11, rbp, offsetof(Frame, counters));
        out_.add(r11, r10);
        out_.lea(r11, r11, static_cast<std::int32_t>(models::Gshare::site(gshare_->bits(), place)));
        out_.load8_signed(rdi, r11);
        out_.mov32(rax, rdi);
        out_.shr32(rax, 31);
        out_.xor32(rax, rcx);
        out_.xor32_immediate(rax, 1);
        out_.load(r8, rbp, offsetof(Frame, mispredictions));
        out_.add_to_memory(rax, r8, 0);
        if (segment_.resolving != 0) {
            out_.xor32(rdx, rdx);
            out_.sub32(rdx, rax);
            out_.and32(rdx, segment_.resolving);
            out_.add_to_memory(rdx, rbp, offsetof(Frame, resolved));
        }
        out_.lea_step(rdi, rdi, rcx);
        out_.mov(rax, 1);
        out_.cmp32(rdi, rax);
        out_.cmov32(Condition::greater, rdi, rax);
        out_.mov(rax, 0xfffffffeU);
        out_.cmp32(rdi, rax);
        out_.cmov32(Condition::less, rdi, rax);
        out_.store8(rdi, r11);
    }

    //   add MOVED, rsi ; lea (rsi,rsi), rdx ; xor PLACE, rdx ; imul MIXING, rdx ; shr $56, rdx
    //   lea (,r10,4), rax ; add rdx, rax ; and MASK, eax ; test ecx, ecx ; cmovz r10, rax ; mov eax, (r9)
    void write_path(std::uint64_t place, std::uint64_t moved) {
        if (moved != 0) {
            out_.mov(rax, moved);
            out_.add(rsi, rax);
        }
        out_.lea_twice(rdx, rsi, 0);
        out_.mov(rax, place);
        out_.xor_(rdx, rax);
        out_.mov(rax, models::kMixing);
        out_.imul(rdx, rax);
        out_.shr(rdx, 64 - models::Gshare::kBitsOfABranch);
        out_.mov(rax, r10);
        out_.shl(rax, models::Gshare::kShift);
        out_.add(rax, rdx);
        out_.and32(rax, (1U << (gshare_->bits() - 1)) - 1);
        out_.test32(rcx, rcx);
        out_.cmov(Condition::equal, rax, r10);
        out_.store32(rax, r9, 0);
    }

    //   mov $2, eax ; sub ecx, eax ; cmp eax, edi ; je back               Sites::note()
    //   test edi, edi ; jne changes ; mov al, SITE(r8) ; jmp back
    //   changes: mov $BOTH, eax ; mov al, SITE(r8)                        the other way for the first time
    //   mov MISPREDICTIONS(rbp), r11 ; mov $1, eax ; add rax, (r11)
    //   mov $RESOLVING, eax ; add rax, RESOLVED(rbp) ; jmp back
    void write_one_way() {
        out_.bind_far(one_way_);
        out_.mov(rax, models::Sites::kNotTaken);
        out_.sub32(rax, rcx);
        out_.cmp32(rdi, rax);
        out_.jcc(Condition::equal, after_branch_);
        out_.test32(rdi, rdi);
        std::uint8_t* const changes = out_.jcc_short(Condition::not_equal);
        out_.store8_at(rax, r8, site_);
        out_.jmp(after_branch_);
        out_.bind(changes);
        out_.mov(rax, models::Sites::kBoth);
        out_.store8_at(rax, r8, site_);
        out_.load(r11, rbp, offsetof(Frame, mispredictions));
        out_.mov(rax, 1);
        out_.add_to_memory(rax, r11, 0);
        out_.mov(rax, segment_.resolving);
        out_.add_to_memory(rax, rbp, offsetof(Frame, resolved));
        out_.jmp(after_branch_);
    }

    void write_calls() {
        if (one_way_ != nullptr) write_one_way();
        for (unsigned i = 0; i < call_count_; ++i) {
            const Call& made = calls_[i];
            for (unsigned j = 0; j < made.count; ++j) out_.bind_far(made.from[j]);
            std::uint8_t* const follows = made.follows ? out_.jcc_far(Condition::equal) : nullptr;
            write_call(made, made.function);
            if (follows == nullptr) continue;
            out_.bind_far(follows);
            write_call(made, train);
        }
    }

    void write_call(const Call& made,
                    bool (*function)(Frame&, const RecordedAccess*, const std::uint64_t*, std::uint64_t)) {
        out_.mov(rdi, rbp);
        out_.mov(rsi, address_of(made.access));
        out_.mov(rdx, r12);
        out_.mov(rcx, rax);
        out_.call(address_of(reinterpret_cast<const void*>(function)));
        out_.test8(rax);
        out_.jcc(Condition::equal, made.back);
        out_.mov(rdi, rbp);
        out_.mov(rsi, address_of(made.access));
        out_.mov(rdx, r12);
        out_.call(address_of(reinterpret_cast<const void*>(finish_segment)));
        out_.jmp(skip_rest_);
    }

    ReplayEmitter& out_;
    Replay& replay_;
    bool notes_branches_;
    const RecordedSegment& segment_;
    const RecordedAccess* first_;
    models::ShortPath path_;
    const AccessRoutines& routines_;
    const models::Gshare* gshare_;
    const models::Sites& sites_;
    const std::uint8_t* leave_;
    std::uint8_t* one_way_ = nullptr;
    const std::uint8_t* after_branch_ = nullptr;
    const std::uint8_t* skip_rest_ = nullptr;
    std::int64_t site_ = 0;
    Call calls_[kMostAccesses];
    unsigned call_count_ = 0;
};

/// Writes enter() and its end, to which all code leaves. Returns the latter.
//   push rbx, rbp, r12 to r15 ; sub $8, rsp               the stack is aligned for calls
//   mov rdi, rbp ; mov rsi, r12 ; mov CORE(rbp), rbx ; mov SEGMENTS(rbp), r14 ; mov SEGMENT(rbp), r15
//   jmp *rdx
//   leave: mov r15, SEGMENT(rbp) ; mov r12, rax ; add $8, rsp ; pop ... ; ret
const std::uint8_t* write_entry(ReplayEmitter& out) {
    constexpr Register kSaved[] = {rbx, rbp, r12, r13, r14, r15};
    for (const Register reg : kSaved) out.push(reg);
    out.lea(rsp, rsp, -8);
    out.mov(rbp, rdi);
    out.mov(r12, rsi);
    out.load(rbx, rbp, offsetof(Frame, core));
    out.load(r14, rbp, offsetof(Frame, segments));
    out.load(r15, rbp, offsetof(Frame, segment));
    out.jmp_register(rdx);
    const std::uint8_t* const leave = out.at();
    out.store(r15, rbp, offsetof(Frame, segment));
    out.mov(rax, r12);
    out.lea(rsp, rsp, 8);
    for (std::size_t i = std::size(kSaved); i-- > 0;) out.pop(kSaved[i]);
    out.ret();
    return leave;
}

ReplayEmitter emitter_at(const ReplayMemory& memory, std::size_t offset) {
    auto* const start = at_address<std::uint8_t>(memory.code.start());
    return {start + offset, start + kBytes, memory.code.to_writable()};
}

std::size_t offset_of(const ReplayMemory& memory, const ReplayEmitter& out) {
    return address_of(out.at()) - memory.code.start();
}

/// Maps the memory, or empties it if it is of segments that have gone. False if there is none.
bool prepare(Engine& engine, const models::Core& core) {
    ReplayMemory& memory = engine.modelling.code;
    if (memory.refused) return false;
    if (memory.code.start() == 0) {
        memory.refused = !memory.code.map_guarded(kBytes, engine.cache.separate_writes);
        if (memory.refused) return false;
        ReplayEmitter out = emitter_at(memory, 0);
        memory.leave = write_entry(out);
        memory.routines = AccessRoutines::write(out, core.short_path());
        memory.first = memory.used = offset_of(memory, out);
    }
    if (memory.generation != engine.cache.generation) memory.used = memory.first;
    memory.generation = engine.cache.generation;
    return memory.used + kLongestCode <= kBytes;
}

}  // namespace

void ReplayCode::compile(Engine& engine, Replay& replay, RecordedSegment& segment) {
    if (segment.accesses > kMostAccesses || !prepare(engine, replay.core())) return;
    ReplayMemory& memory = engine.modelling.code;
    ReplayEmitter out = emitter_at(memory, memory.used);
    const std::uint64_t start = address_of(out.at());
    SegmentCode code{out, replay, segment, memory};
    code.write();
    if (out.overflowed()) return;
    memory.code.written();
    memory.used = offset_of(memory, out);
    segment.replay = start;
}

const std::uint64_t* ReplayCode::run(Engine& engine, Frame& frame, const std::uint64_t* record) {
    using Enter = const std::uint64_t* (*)(Frame*, const std::uint64_t*, std::uint64_t);
    const auto enter = reinterpret_cast<Enter>(engine.modelling.code.code.start());
    frame.segment = &segment_of(frame, record);
    const std::uint64_t* const next = enter(&frame, record, frame.segment->replay);
    add_counted(*frame.replay, frame.counted);
    frame.replay->resolved(frame.resolved);
    frame.resolved = frame.counted = 0;
    return next;
}

}  // namespace anyperf::engine
