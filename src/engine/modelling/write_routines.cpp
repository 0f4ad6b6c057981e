// write_routines.cpp: the sequences of access_routines.h. Each function that writes one has its listing.
#include "engine/modelling/write_routines.h"

#include "engine/freestanding/pages.h"
#include "engine/modelling/look_up_code.h"
#include "engine/modelling/replay_calls.h"

namespace anyperf::engine {

namespace {

using namespace x86_64;  // the names of registers

/// Writes a call of a function of replay_calls.h, and the return from the routine.
//   push rsi ; mov r14, CLOCK(rbx) ; mov rbp, rdi ; mov r12, rdx ; mov rax, rcx ; mov FUNCTION, rax ; call *rax
//   mov CLOCK(rbx), r14 ; pop rsi ; test al, al ; ret
const std::uint8_t* write_call(ReplayEmitter& out, std::int64_t clock, ReplayCall function) {
    const std::uint8_t* const start = out.at();
    out.push(rsi);
    out.store(r14, rbx, clock);
    out.mov(rdi, rbp);
    out.mov(rdx, r12);
    out.mov(rcx, rax);
    out.call(address_of(reinterpret_cast<const void*>(function)));
    out.load(r14, rbx, clock);
    out.pop(rsi);
    out.test8(rax);
    out.ret();
    return start;
}

const std::uint8_t* write_finish(ReplayEmitter& out, std::int64_t clock) {
    const std::uint8_t* const start = out.at();
    out.push(rsi);
    out.store(r14, rbx, clock);
    out.mov(rdi, rbp);
    out.mov(rdx, r12);
    out.call(address_of(reinterpret_cast<const void*>(finish_segment)));
    out.load(r14, rbx, clock);
    out.pop(rsi);
    out.ret();
    return start;
}

/// Writes what looks an access up.
//   mov rax, rcx ; shr LINE, rcx ; shr LINE, rdx ; cmp rcx, rdx ; jne model        it is one line
//   mov edx, edi ; look up rdx at rdi ; jne model
//   mov rax, r8 ; shr $12, rax ; mov eax, ecx ; look up rax at rcx ; jne other
//   add $1, r14 ; use both ; cmp ecx, ecx ; ret
//   other: mov r8, rax
//   model: jmp MODEL
const std::uint8_t* write_data(ReplayEmitter& out, const models::ShortPath& path, bool stores, bool pages,
                               const std::uint8_t* model) {
    const models::ShortPath::Level& data = path.data;
    if (!data.cache.hinted || (pages && !data.tlb.hinted)) return model;
    LookUpCode code{out, data.lines.apart, pages};
    const std::uint8_t* const start = out.at();
    out.mov(rcx, rax);
    out.shr(rcx, path.line_shift);
    out.shr(rdx, path.line_shift);
    out.cmp(rdx, rcx);
    out.jcc(Condition::not_equal, model);
    out.mov32(rdi, rdx);
    code.look_up(data.cache, stores, rdx, rdi);
    out.jcc(Condition::not_equal, model);
    if (pages) out.mov(r8, rax);
    out.shr(rax, models::Core::kPageShift);
    std::uint8_t* other = nullptr;
    if (pages) {
        out.mov32(rcx, rax);
        code.look_up(data.tlb, false, rax, rcx);
        other = out.jcc_far(Condition::not_equal);
    }
    code.tick();
    code.use(data.cache, rdi);
    if (pages) code.use(data.tlb, rcx);
    code.note_line(data, stores);
    code.note_page(data);
    out.cmp32(rcx, rcx);
    out.ret();
    if (!pages) return start;
    out.bind_far(other);
    out.mov(rax, r8);
    out.jmp(model);
    return start;
}

}  // namespace

AccessRoutines write_routines(ReplayEmitter& out, const models::ShortPath& path, bool pages) {
    const std::uint8_t* const model = write_call(out, path.clock, access_anew);
    const std::uint8_t* const store = write_data(out, path, true, pages, model);
    return {.load = write_data(out, path, false, pages, model),
            .store = store,
            .modify = store,
            .model = model,
            .fetch = write_call(out, path.clock, fetch_anew),
            .other = write_call(out, path.clock, access_uncounted),
            .finish = write_finish(out, path.clock)};
}

}  // namespace anyperf::engine
