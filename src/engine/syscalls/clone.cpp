// clone.cpp: calls that make threads and processes: clone, clone3, fork, vfork. Two cases, by CLONE_VM:
//
//   clone_sharing  The child shares memory: a thread, or the child of a vfork. It can use neither the engine stack nor
//                  the %gs block of the caller, so the parent makes both, and the child starts in
//                  engine_thread_start(). The stack that the application asks for only becomes a register value of the
//                  child.
//   clone_copying  The child gets a copy of memory, the engine included, and goes on in the engine where the parent is.
//                  Locks that another thread of the parent held are reset: their holder does not exist in the child.
//
// The child has to be measurable from its first instruction on, also while a tracer holds it there. So its
// thread page is claimed before the call, and the kernel itself writes the id there: by CLONE_CHILD_SETTID for a child
// that shares memory, by CLONE_PARENT_SETTID for one that does not. The ids that the application wants by these flags
// are written by the engine afterwards. The broker learns of the child from the parent or from the child, whichever is
// first (hooks::before_clone).
//
// All signals are blocked from before the clone until the child has its own %gs block, page and locks, because the
// signal handler relies on them.
#include <errno.h>
#include <linux/sched.h>

#include <algorithm>
#include <array>

#include "engine/exact/exact.h"
#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/hooks.h"
#include "engine/instrumentation/instrumentation.h"
#include "engine/instrumentation/open_calls.h"
#include "engine/own_descriptors.h"
#include "engine/shown_ids.h"
#include "engine/signals/deliver.h"
#include "engine/signals/install.h"
#include "engine/signals/share_signals.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/turn_calls.h"
#include "engine/threads/own_faults.h"
#include "engine/threads/run_records.h"
#include "engine/threads/thread_list.h"
#include "engine/threads/thread_memory.h"
#include "engine/time/virtual_clock.h"
#include "engine/tracee_stops.h"
#include "engine/turns/timers.h"
#include "engine/turns/turns.h"
#include "engine/x86_64/cpu/guarded_copy.h"

extern "C" {

/// The first C++ function of a child that shares memory. It runs on the child's engine stack with all signals blocked;
/// deliver_and_resume() sets the mask that the application expects.
[[noreturn]] void engine_thread_start(anyperf::engine::x86_64::Thread* thread) {
    using namespace anyperf::engine;
    bind_to_kernel_thread(*thread);
    // prepare_thread() took both id flags out of the request. Here they are carried out for the application: the
    // address to clear at the end (CLONE_CHILD_CLEARTID), and the id in the application's memory (CLONE_CHILD_SETTID).
    thread->tid = static_cast<std::int32_t>(kernel_call(__NR_set_tid_address, thread->clear_child_tid));
    if (thread->signals->clear_handlers) clear_handlers(*thread->signals->actions);
    open_thread_page(*thread, thread->page_number);
    begin_thread_time(*thread);
    // The parent does so, too, but perhaps after the records about the thread.
    if (thread->turn_slot != 0) turns::name_slot(*thread->engine, thread->turn_slot, thread->page.pid, thread->tid);
    hooks::at_thread_start(*thread);
    begin_exact_thread(*thread);
    if (turns::on(*thread->engine)) turns::begin_thread(*thread, thread->turn_slot);
    if (thread->set_child_tid != 0) {
        const std::int32_t id = turns::shown_tid(*thread);
        x86_64::guarded_copy(at_address<void>(thread->set_child_tid), &id, sizeof id);
    }
    deliver_and_resume(*thread);
}

/// clone(2) with the child on its engine stack. rdi: flags, rsi: stack, rdx: parent_tid, rcx: child_tid, r8: tls, r9:
/// thread. Returns in the parent only. It is assembler, because compiled code would use the parent's stack in the
/// child.
[[gnu::naked]] long engine_clone_thread(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                        void*) {
    asm("mov $56, %eax\n\t"
        "mov %rcx, %r10\n\t"
        "syscall\n\t"
        "test %rax, %rax\n\t"
        "jz 1f\n\t"
        "ret\n"
        "1:\n\t"
        "xor %ebp, %ebp\n\t"
        "mov %r9, %rdi\n\t"
        "call engine_thread_start");
}

/// The same by clone3(2), whose arguments have the stack. rdi: arguments, rsi: their size, rdx: thread.
[[gnu::naked]] long engine_clone3_thread(void*, std::uint64_t, void*) {
    asm("mov $435, %eax\n\t"
        "syscall\n\t"
        "test %rax, %rax\n\t"
        "jz 1f\n\t"
        "ret\n"
        "1:\n\t"
        "xor %ebp, %ebp\n\t"
        "mov %rdx, %rdi\n\t"
        "call engine_thread_start");
}
}

namespace anyperf::engine::handlers {

namespace {

/// The application's arguments, of clone and clone3 alike, and the flags that the engine changes in them.
struct CloneRequest {
    /// The exit signal is in the low byte, as in clone's argument. For clone3, CLONE_NEWTIME is in that byte too.
    std::uint64_t flags = 0;
    std::uint64_t stack = 0;  ///< the child's initial stack pointer; 0: that of the caller
    std::uint64_t parent_tid = 0;
    std::uint64_t child_tid = 0;
    std::uint64_t tls = 0;
    clone_args* extended = nullptr;  ///< clone3's arguments, a copy that may be changed; null for clone
    std::uint64_t extended_bytes = 0;
    bool clear_handlers = false;  ///< CLONE_CLEAR_SIGHAND, which the engine carries out itself

    /// Makes the kernel write the child's id to `place`, by CLONE_CHILD_SETTID or CLONE_PARENT_SETTID. It replaces the
    /// application's address for the same flag.
    void set_id_address(std::uint64_t flag, std::int32_t* place) {
        (flag == CLONE_CHILD_SETTID ? child_tid : parent_tid) = address_of(place);
        flags |= flag;
        if (extended == nullptr) return;
        extended->flags |= flag;
        extended->child_tid = child_tid;
        extended->parent_tid = parent_tid;
    }
    void drop_flags(std::uint64_t dropped) {
        flags &= ~dropped;
        if (extended != nullptr) extended->flags &= ~dropped;
    }
    bool has(std::uint64_t flag) const { return (flags & flag) != 0; }
};

/// The system call for a child that shares memory. Returns in the parent only.
long make_thread(const CloneRequest& request, Thread& child) {
    if (request.extended == nullptr)
        return engine_clone_thread(request.flags, child.engine_stack, request.parent_tid, request.child_tid,
                                   request.tls, &child);
    request.extended->stack = child.engine_stack - x86_64::kEngineStackBytes;
    request.extended->stack_size = x86_64::kEngineStackBytes;
    return engine_clone3_thread(request.extended, request.extended_bytes, &child);
}

/// The system call for a child with a copy of memory. Returns in the parent and in the child, there 0.
long make_process(const CloneRequest& request) {
    if (request.extended == nullptr)
        return kernel_call(__NR_clone, request.flags, 0, request.parent_tid, request.child_tid, request.tls);
    request.extended->stack = request.extended->stack_size = 0;
    return kernel_call(__NR_clone3, address_of(request.extended), request.extended_bytes);
}

/// Blocks all signals of the calling thread, including the engine's own: a signal handler must not run on a thread that
/// does not have its own %gs block, locks and counters yet. A new thread inherits the blocked mask.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        const std::uint64_t all = ~std::uint64_t{0};
        kernel_call(__NR_rt_sigprocmask, 2, address_of(&all), address_of(&before_), sizeof all);
    }
    ~SignalsBlocked() { kernel_call(__NR_rt_sigprocmask, 2, address_of(&before_), 0, sizeof before_); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    std::uint64_t before_ = 0;
};

/// The child's registers: those of the caller after the instruction, with 0 as its result; rcx and r11 are as `syscall`
/// leaves them (SDM volume 2, SYSCALL).
void set_child_registers(const Call& call, const CloneRequest& request, x86_64::Registers& registers) {
    registers = call.thread.registers;
    registers.rip = call.next_rip;
    registers.r[x86_64::rax] = 0;
    registers.r[x86_64::rcx] = call.next_rip;
    registers.r[x86_64::r11] = registers.flags;
    if (request.stack != 0) registers.r[x86_64::rsp] = request.stack;
}

/// Gives the child its process record and its thread page, and makes the kernel write the id into the page, so that the
/// child can be found before it has run. engine_thread_start() carries out the application's own CLONE_CHILD_SETTID and
/// CLONE_CHILD_CLEARTID.
void prepare_thread(const Call& call, CloneRequest& request, Thread& child) {
    const bool own_process = !request.has(CLONE_THREAD);
    child.process = own_process ? new_process_record(call.engine, call.thread.process) : call.thread.process;
    child.page_number = prepare_thread_page(call.engine, child.process, own_process ? 0 : call.thread.page.pid);
    begin_trace_state(call.thread, child.page_number);
    child.set_child_tid = request.has(CLONE_CHILD_SETTID) ? request.child_tid : 0;
    child.clear_child_tid = request.has(CLONE_CHILD_CLEARTID) ? request.child_tid : 0;
    child.creating_syscall = static_cast<std::uint32_t>(call.number);
    request.drop_flags(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID);
    if (child.page_number != run::kNoPage)
        request.set_id_address(CLONE_CHILD_SETTID, thread_id_address(call.engine, child.page_number));
}

/// Gives a child of a run with turns a slot. False: there is none.
bool prepare_turn(Call& call, const CloneRequest& request, std::uint64_t space, std::uint32_t& slot) {
    if (!turns::on(call.engine)) return true;
    slot = turns::new_slot(call.thread, space, request.has(CLONE_VFORK), !request.has(CLONE_THREAD));
    return slot != 0;
}

/// Has `make` make the child. The parent of a vfork gives its turn away meanwhile.
template <class Make>
long make_child(Call& call, const CloneRequest& request, std::uint32_t slot, Make make) {
    if (slot == 0) return make();
    const bool waits = request.has(CLONE_VFORK);
    if (waits) turns::begin_vfork(call.thread);
    const long got = make();
    if (got == 0) return 0;  // the child of a fork
    if (waits) {
        turns::end_vfork(call.thread, slot, is_error(got));
        turns::forget_timers_of(call.engine, static_cast<std::int32_t>(got));
    } else if (is_error(got)) {
        turns::free_slot(call.engine, slot);
    } else {
        const auto tid = static_cast<std::int32_t>(got);
        turns::name_slot(call.engine, slot, request.has(CLONE_THREAD) ? call.thread.page.pid : tid, tid);
    }
    return got;
}

/// Writes the child's id to the program's memory as the program sees it.
void show_child_id(Engine& engine, std::uint64_t place, long child) {
    const std::int32_t id = turns::shown_of(engine, static_cast<std::int32_t>(child));
    x86_64::guarded_copy(at_address<void>(place), &id, sizeof id);
}

/// A child with this process's memory: a thread, or the child of a vfork, for which the parent waits in the kernel.
long clone_sharing(Call& call, CloneRequest& request) {
    Thread* const child = new_thread(call.engine);
    if (child == nullptr) return -ENOMEM;
    const bool own_actions = !request.has(CLONE_SIGHAND);
    set_child_registers(call, request, child->registers);
    set_gs_base(*child, call.thread.gs_base);
    child->open_calls.kept = true;
    if (request.stack == 0) copy_open_calls(call.thread, *child);
    child->signals->mask = call.thread.signals->mask;
    child->signals->xstate = call.thread.signals->xstate;
    child->signals->handler_pkru = call.thread.signals->handler_pkru;
    if (request.has(CLONE_VFORK)) child->signals->stack = call.thread.signals->stack;
    if (!(own_actions ? copy_signal_actions(*child, call.thread) : share_signal_actions(*child, call.thread))) {
        free_thread(*child);
        return -ENOMEM;
    }
    if (request.clear_handlers) child->signals->clear_handlers = true;
    child->owned_by_parent = request.has(CLONE_VFORK);
    if (!prepare_turn(call, request, call.engine.turn_space, child->turn_slot)) {
        free_thread(*child);
        return -EAGAIN;
    }
    const std::uint32_t slot = child->turn_slot;
    prepare_thread(call, request, *child);
    const std::uint32_t page = child->page_number;
    const std::uint32_t process = child->process;
    const std::uint32_t inheritance = hooks::before_clone(call, request.flags, page);
    child->inheritance = inheritance;
    const SignalsBlocked blocked;
    const bool is_process = !request.has(CLONE_THREAD);
    if (is_process) Lock::begin_sharing();
    std::array<int, kOwnDescriptors.size()> descriptors{};
    for (std::size_t i = 0; i < descriptors.size(); ++i) descriptors[i] = call.engine.*kOwnDescriptors[i];
    const long got = make_child(call, request, slot, [&] { return make_thread(request, *child); });
    // The kernel has written the id before the child ran. It must not be written again where the child may have ended:
    // CLONE_CHILD_CLEARTID clears the same word in glibc's threads. A run with turns shows another id, and there the
    // child waits for its turn.
    if (request.has(CLONE_PARENT_SETTID) && !is_error(got) && turns::shows_ids(call.engine))
        show_child_id(call.engine, request.parent_tid, got);
    if (is_error(got))
        free_thread_page(call.engine, page);
    else if (process != call.thread.process)
        note_child_id(call.engine, process, static_cast<std::int32_t>(got));
    // A vfork's child shares `engine`, but not the table of descriptors: if it moved the engine's descriptors, the
    // numbers here are no longer those of this process.
    if (request.has(CLONE_VFORK) && !request.has(CLONE_FILES))
        for (std::size_t i = 0; i < descriptors.size(); ++i) call.engine.*kOwnDescriptors[i] = descriptors[i];
    // After a vfork the child runs another program or has ended, so its Thread is no longer in use. Any other thread
    // frees its own memory when it ends (release_and_exit() in process.cpp).
    if (is_error(got) || request.has(CLONE_VFORK)) {
        if (is_process) Lock::end_sharing();
        if (own_actions) release_pages(child->signals->actions, page_up(sizeof(SignalActions)));
        clear_instrumentation(*child);
        hooks::discard_thread(*child);
        free_thread(*child);
    }
    hooks::after_clone(call, inheritance, got);
    return got;
}

/// Makes the kernel write the id of a child with its own memory into the page. The kernel does so before the child runs
/// (kernel_clone() in kernel/fork.c). clone(2) uses the same argument for CLONE_PIDFD: then the child writes its id
/// itself (open_process_record()).
void prepare_process(const Call& call, CloneRequest& request, std::uint32_t page) {
    const bool is_pidfd_argument = request.extended == nullptr && request.has(CLONE_PIDFD);
    if (page != run::kNoPage && !is_pidfd_argument)
        request.set_id_address(CLONE_PARENT_SETTID, thread_id_address(call.engine, page));
}

/// Copies translated code that the child would otherwise share (cache/code_memory.h). False if the kernel refuses.
/// drop_code_copies() must follow in any case, or take_code_copies() in the child. Precondition: the locks of both.
bool begin_code_copies(const Thread& thread) {
    Engine& engine = *thread.engine;
    ReplayMemory& replay = engine.modelling.code;
    if (!engine.cache.has_separate_writes() && !replay.code.has_separate_writes()) return true;
    const std::uint64_t before = kernel_faults();
    const bool copied = engine.cache.begin_copies() && replay.code.begin_copy({{0, replay.used}});
    add_own_faults(thread, before);
    return copied;
}

void drop_code_copies(Engine& engine) {
    engine.cache.drop_copies();
    engine.modelling.code.code.drop_copy();
}

void take_code_copies(Engine& engine, std::uint64_t pc) {
    if (!engine.cache.take_copies() || !engine.modelling.code.code.take_copy())
        fail("no memory for the copy of translated code in the child of a fork", pc);
}

/// Takes the engine's locks, so that its data are consistent in the child's copy of the memory (freestanding/lock.h),
/// and copies the code that the child would otherwise share. False if there is no memory for that.
bool lock_for_fork(Thread& thread) {
    Engine& engine = *thread.engine;
    engine.cache.lock.lock();
    engine.has_forked = true;
    thread.signals->actions->lock_for_fork();
    engine.modelling.lock.lock();
    engine.exact.lock.lock();
    const bool copied = begin_code_copies(thread);
    own_pages.lock_for_fork();
    return copied;
}

void unlock_in_parent(Thread& thread) {
    Engine& engine = *thread.engine;
    own_pages.unlock_after_fork();
    drop_code_copies(engine);
    engine.exact.lock.unlock();
    engine.modelling.lock.unlock();
    thread.signals->actions->unlock_after_fork();
    engine.cache.lock.unlock();
}

/// The child's copies of the locks are held by a thread that exists in the parent only: they are reset. What belongs to
/// the parent's threads is forgotten.
void reset_locks_in_child(Thread& thread, std::uint64_t pc) {
    Engine& engine = *thread.engine;
    Lock::forget_sharers();
    own_pages.reset_lock();
    take_code_copies(engine, pc);
    engine.cache.lock.reset();
    engine.store.forget_new_blocks();
    keep_only_thread(engine, thread);
    engine.modelling.lock.reset();
    engine.exact.lock.reset();
    drop_pending_signals(thread);
    thread.signals->actions->reset_lock();
}

/// A child with a copy of this process's memory.
long clone_copying(Call& call, CloneRequest& request) {
    Thread& thread = call.thread;
    std::uint32_t slot = 0;
    const std::uint64_t space = turns::on(call.engine) ? turns::new_space(call.engine) : 0;
    if (!prepare_turn(call, request, space, slot)) return -EAGAIN;
    const std::uint32_t process = new_process_record(call.engine, thread.process);
    const std::uint32_t page = prepare_thread_page(call.engine, process, 0);
    begin_trace_state(thread, page);
    const std::uint64_t parent_tid_address = request.has(CLONE_PARENT_SETTID) ? request.parent_tid : 0;
    const std::uint64_t clear_child_tid = request.has(CLONE_CHILD_CLEARTID) ? request.child_tid : 0;
    prepare_process(call, request, page);
    const std::uint32_t inheritance = hooks::before_clone(call, request.flags, page);
    const std::uint64_t seed = call.engine.random.next();
    const SignalsBlocked blocked;
    const bool copied = lock_for_fork(thread);
    const long got = make_child(call, request, slot, [&] { return copied ? make_process(request) : long{-ENOMEM}; });
    if (got != 0) {
        unlock_in_parent(thread);
        if (is_error(got)) free_thread_page(call.engine, page);
        if (!is_error(got)) note_child_id(call.engine, process, static_cast<std::int32_t>(got));
        if (parent_tid_address != 0 && !is_error(got)) show_child_id(call.engine, parent_tid_address, got);
        hooks::after_clone(call, inheritance, got);
        return got;
    }
    // The child: only the calling thread exists here.
    reset_locks_in_child(thread, call.next_rip);
    if (request.clear_handlers) clear_handlers(*thread.signals->actions);
    call.engine.random.begin(seed);
    call.engine.locks_future = 0;  // memory locks are not inherited (mlockall(2))
    thread.readable.close();       // its events are the parent's
    thread.process = process;
    thread.tid = static_cast<std::int32_t>(kernel_call(__NR_gettid));
    thread.inheritance = inheritance;
    thread.turn = {};
    thread.robust_list = 0;
    thread.clear_child_tid = clear_child_tid;
    open_process_record(call.engine, thread, page);
    begin_thread_time(thread);
    // The parent does so, too, but perhaps after the records about the child.
    if (slot != 0) turns::name_slot(call.engine, slot, thread.tid, thread.tid);
    hooks::at_process_start(thread, false);
    catch_up_with_ids(thread);
    inherit_exact_image(call.engine);
    begin_exact_thread(thread);
    begin_own_faults(thread, 0);
    call.engine.turn_space = space;
    if (slot != 0) turns::begin_fork_child(thread, slot);
    if (slot != 0 && request.has(CLONE_CHILD_SETTID)) show_child_id(call.engine, request.child_tid, thread.tid);
    set_child_registers(call, request, thread.registers);
    return 0;
}

/// The kernel's checks of clone3's arguments (kernel/fork.c), for those that the engine replaces: the stack, and the
/// flags that it handles itself. The kernel checks the rest.
long check(const clone_args& arguments, std::uint64_t stack, std::uint64_t stack_bytes) {
    constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;
    constexpr std::uint64_t kSignalBits = 0xff;
    if ((stack == 0) != (stack_bytes == 0)) return -EINVAL;
    if (stack_bytes > kUserEnd || stack > kUserEnd - stack_bytes) return -EINVAL;
    // The bit of CLONE_NEWTIME is one of clone's exit signal. A kernel that does not know the flag refuses it.
    if ((arguments.flags & kSignalBits & ~std::uint64_t{CLONE_NEWTIME}) != 0) return -EINVAL;
    const bool threads = (arguments.flags & (CLONE_THREAD | CLONE_PARENT)) != 0;
    if (arguments.exit_signal > kSignalBits || (threads && arguments.exit_signal != 0)) return -EINVAL;
    return (arguments.flags & CLONE_SIGHAND) != 0 && (arguments.flags & CLONE_CLEAR_SIGHAND) != 0 ? -EINVAL : 0;
}

/// Copies the application's clone_args to `room`, which is zero. A longer struct of a newer kernel is accepted if the
/// part that does not fit is zero, as by copy_struct_from_user(). Returns 0 or a negated errno.
long copy_arguments(std::uint64_t from, std::uint64_t bytes, clone_args& room) {
    constexpr std::uint64_t kFirstSize = 64;  // CLONE_ARGS_SIZE_VER0
    if (bytes > kPageBytes) return -E2BIG;
    if (bytes < kFirstSize) return -EINVAL;
    if (!x86_64::guarded_copy(&room, at_address<const void>(from), std::min<std::uint64_t>(bytes, sizeof room)))
        return -EFAULT;
    for (std::uint64_t i = sizeof room; i < bytes; ++i) {
        char byte = 0;
        if (!x86_64::guarded_copy(&byte, at_address<const void>(from + i), 1)) return -EFAULT;
        if (byte != 0) return -E2BIG;
    }
    return 0;
}

long clone_as(Call& call, CloneRequest& request) {
    // The child of a vfork remembers no kinds, so it may have another table of descriptors.
    if (request.has(CLONE_VM) != request.has(CLONE_FILES) && !request.has(CLONE_VFORK))
        call.engine.descriptor_kinds.off = true;
    return request.has(CLONE_VM) ? clone_sharing(call, request) : clone_copying(call, request);
}

}  // namespace

long clone(Call& call) {
    CloneRequest request;
    request.flags = call.argument[0];
    request.stack = call.argument[1];
    request.parent_tid = call.argument[2];
    request.child_tid = call.argument[3];
    request.tls = call.argument[4];
    return clone_as(call, request);
}

long clone3(Call& call) {
    clone_args arguments{};
    const std::uint64_t bytes = call.argument[1];
    if (const long error = copy_arguments(call.argument[0], bytes, arguments); error != 0) return error;
    if (const long error = check(arguments, arguments.stack, arguments.stack_size); error != 0) return error;
    CloneRequest request{arguments.flags | arguments.exit_signal,
                         arguments.stack + arguments.stack_size,
                         arguments.parent_tid,
                         arguments.child_tid,
                         arguments.tls,
                         &arguments,
                         std::min<std::uint64_t>(bytes, sizeof arguments)};
    request.clear_handlers = (arguments.flags & CLONE_CLEAR_SIGHAND) != 0;
    arguments.flags &= ~std::uint64_t{CLONE_CLEAR_SIGHAND};
    return clone_as(call, request);
}

long fork(Call& call) {
    CloneRequest request;
    request.flags = kChildSignal;
    return clone_as(call, request);
}

long vfork(Call& call) {
    CloneRequest request;
    request.flags = CLONE_VFORK | CLONE_VM | kChildSignal;
    return clone_as(call, request);
}

}  // namespace anyperf::engine::handlers
