// clone.cpp: calls that make threads and processes. A new thread that shares memory gets a %gs block and an engine
// stack of its own and starts in the engine; a new process is a copy of this one, engine and all.
#include <errno.h>
#include <linux/sched.h>

#include <algorithm>

#include "engine/attached.h"
#include "engine/dispatch.h"
#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/ledger.h"
#include "engine/signals/deliver.h"
#include "engine/syscalls/handlers.h"
#include "engine/thread_memory.h"
#include "engine/threads.h"
#include "engine/watch.h"
#include "engine/x86_64/guarded_copy.h"

extern "C" {

/// The first C++ of a new thread, on its own engine stack, all signals blocked.
[[noreturn]] void engine_thread_begins(anyperf::engine::x86_64::Thread* thread) {
    using namespace anyperf::engine;
    become(*thread);
    // The kernel has told the page (clone_sharing) what the application's own memory is told now.
    thread->tid = static_cast<std::int32_t>(kernel_call(__NR_set_tid_address, thread->clear_child_tid));
    if (thread->set_child_tid != 0)
        x86_64::guarded_copy(at_address<void>(thread->set_child_tid), &thread->tid, sizeof thread->tid);
    if (thread->signals->clear_handlers) clear_handlers(*thread->signals->actions);
    begin_thread(*thread, thread->page_number);
    attached::begin_thread(*thread);
    deliver_and_resume(*thread);
}

/// clone(2) onto the new thread's engine stack. rdi: flags, rsi: stack, rdx: parent_tid, rcx: child_tid, r8: tls, r9:
/// thread.
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
        "call engine_thread_begins");
}

/// clone3(2) onto the new thread's engine stack, which the arguments name. rdi: arguments, rsi: their size, rdx:
/// thread.
[[gnu::naked]] long engine_clone3_thread(void*, std::uint64_t, void*) {
    asm("mov $435, %eax\n\t"
        "syscall\n\t"
        "test %rax, %rax\n\t"
        "jz 1f\n\t"
        "ret\n"
        "1:\n\t"
        "xor %ebp, %ebp\n\t"
        "mov %rdx, %rdi\n\t"
        "call engine_thread_begins");
}
}

namespace anyperf::engine::handlers {

namespace {

/// What clone and clone3 have in common.
struct CloneWish {
    std::uint64_t flags = 0;  ///< with the exit signal in the low byte, as clone has it
    std::uint64_t stack = 0;  ///< the child's stack pointer; 0: that of the caller
    std::uint64_t parent_tid = 0;
    std::uint64_t child_tid = 0;
    std::uint64_t tls = 0;
    clone_args* extended = nullptr;  ///< of clone3, a copy that may be changed; null: clone
    std::uint64_t extended_bytes = 0;
    bool clear_handlers = false;

    /// CLONE_CHILD_SETTID or CLONE_PARENT_SETTID: also, or at last only, at `place`.
    void tell_id(std::uint64_t flag, std::int32_t* place) {
        (flag == CLONE_CHILD_SETTID ? child_tid : parent_tid) = address_of(place);
        flags |= flag;
        if (extended == nullptr) return;
        extended->flags |= flag;
        extended->child_tid = child_tid;
        extended->parent_tid = parent_tid;
    }
    void without(std::uint64_t dropped) {
        flags &= ~dropped;
        if (extended != nullptr) extended->flags &= ~dropped;
    }
    bool has(std::uint64_t flag) const { return (flags & flag) != 0; }
};

long make_thread(const CloneWish& wish, Thread& child) {
    if (wish.extended == nullptr)
        return engine_clone_thread(wish.flags, child.engine_stack, wish.parent_tid, wish.child_tid, wish.tls, &child);
    wish.extended->stack = child.engine_stack - kEngineStackBytes;
    wish.extended->stack_size = kEngineStackBytes;
    return engine_clone3_thread(wish.extended, wish.extended_bytes, &child);
}

long make_process(const CloneWish& wish) {
    if (wish.extended == nullptr)
        return kernel_call(__NR_clone, wish.flags, 0, wish.parent_tid, wish.child_tid, wish.tls);
    wish.extended->stack = wish.extended->stack_size = 0;
    return kernel_call(__NR_clone3, address_of(wish.extended), wish.extended_bytes);
}

/// No signal comes while there is a moment when %gs, the locks or the counts are not those of the thread.
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

/// The child's registers: those of the caller, behind the instruction, with 0 as its answer.
void child_registers(const Call& call, const CloneWish& wish, x86_64::Registers& registers) {
    registers = call.thread.registers;
    registers.rip = call.next;
    registers.r[x86_64::rax] = 0;
    registers.r[x86_64::rcx] = call.next;
    registers.r[x86_64::r11] = registers.flags;
    if (wish.stack != 0) registers.r[x86_64::rsp] = wish.stack;
}

/// Gives the child its page, of which the kernel tells the id: so it can be found before it has done anything. What the
/// application wants to be told instead the child does itself.
void prepare_thread(const Call& call, CloneWish& wish, Thread& child) {
    const bool own_process = !wish.has(CLONE_THREAD);
    child.process = own_process ? new_process(call.engine, call.thread.process) : call.thread.process;
    child.page_number = prepare_page(call.engine, child.process, own_process ? 0 : call.thread.page.pid);
    child.set_child_tid = wish.has(CLONE_CHILD_SETTID) ? wish.child_tid : 0;
    child.clear_child_tid = wish.has(CLONE_CHILD_CLEARTID) ? wish.child_tid : 0;
    child.made_by = static_cast<std::uint32_t>(call.number);
    wish.without(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID);
    if (child.page_number != kNoPage) wish.tell_id(CLONE_CHILD_SETTID, place_of_id(call.engine, child.page_number));
}

/// A child with this process's memory: a thread, or a vfork whose parent waits.
long clone_sharing(Call& call, CloneWish& wish) {
    Thread* const child = new_thread(call.engine);
    if (child == nullptr) return -ENOMEM;
    const bool own_actions = !wish.has(CLONE_SIGHAND);
    child_registers(call, wish, child->registers);
    set_gs_base(*child, call.thread.gs_base);
    child->signals->mask = call.thread.signals->mask;
    child->signals->xstate = call.thread.signals->xstate;
    if (wish.has(CLONE_VFORK)) child->signals->stack = call.thread.signals->stack;
    if (!(own_actions ? own_signal_actions(*child, call.thread) : share_signal_actions(*child, call.thread))) {
        free_thread(*child);
        return -ENOMEM;
    }
    if (wish.clear_handlers) child->signals->clear_handlers = true;
    child->owned_by_parent = wish.has(CLONE_VFORK);
    prepare_thread(call, wish, *child);
    const std::uint32_t page = child->page_number;
    const std::uint32_t inheritance = attached::before_clone(call, wish.flags, page);
    child->inheritance = inheritance;
    const SignalsBlocked blocked;
    const int run_fd = call.engine.run_fd;
    const int broker_fd = call.engine.broker_fd;
    const long got = make_thread(wish, *child);
    if (is_error(got)) give_back_page(call.engine, page);
    // A vfork's child has descriptors of its own: where it has moved ours to is nothing to this process.
    if (wish.has(CLONE_VFORK) && !wish.has(CLONE_FILES)) {
        call.engine.run_fd = run_fd;
        call.engine.broker_fd = broker_fd;
    }
    // A vfork's child has gone on to another program, or has ended: its block is nobody's.
    if (is_error(got) || wish.has(CLONE_VFORK)) {
        if (own_actions) release_pages(child->signals->actions, page_up(sizeof(SignalActions)));
        stop_watching(*child);
        attached::drop_thread(*child);
        free_thread(*child);
    }
    attached::cloned(call, inheritance, got);
    return got;
}

/// fork's child is told of to the parent alone, before it is seen (kernel/fork.c, kernel_clone). The kernel's old clone
/// has one place for the id and for a pidfd: there the child tells its page itself.
void prepare_process(const Call& call, CloneWish& wish, std::uint32_t page) {
    const bool taken = wish.extended == nullptr && wish.has(CLONE_PIDFD);
    if (page != kNoPage && !taken) wish.tell_id(CLONE_PARENT_SETTID, place_of_id(call.engine, page));
}

/// A child with a copy of this process's memory.
long clone_copying(Call& call, CloneWish& wish) {
    Thread& thread = call.thread;
    const std::uint32_t process = new_process(call.engine, thread.process);
    const std::uint32_t page = prepare_page(call.engine, process, 0);
    const std::uint64_t told = wish.has(CLONE_PARENT_SETTID) ? wish.parent_tid : 0;
    prepare_process(call, wish, page);
    const std::uint32_t inheritance = attached::before_clone(call, wish.flags, page);
    const SignalsBlocked blocked;
    call.engine.cache.lock.take();
    const long got = make_process(wish);
    if (got != 0) {
        call.engine.cache.lock.leave();
        if (is_error(got)) give_back_page(call.engine, page);
        if (const auto id = static_cast<std::int32_t>(got); told != 0 && !is_error(got))
            x86_64::guarded_copy(at_address<void>(told), &id, sizeof id);
        attached::cloned(call, inheritance, got);
        return got;
    }
    call.engine.cache.lock.reset();
    only_thread(call.engine, thread);
    own_pages.reset_lock();
    thread.signals->actions->reset_lock();
    if (wish.clear_handlers) clear_handlers(*thread.signals->actions);
    thread.process = process;
    thread.tid = static_cast<std::int32_t>(kernel_call(__NR_gettid));
    thread.inheritance = inheritance;
    begin_process(call.engine, thread, page);
    attached::begin_process(thread, false);
    child_registers(call, wish, thread.registers);
    return 0;
}

/// What kernel/fork.c asks of the arguments before it looks at what the engine puts in their place.
long check(const clone_args& arguments, std::uint64_t stack, std::uint64_t stack_bytes) {
    constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;
    constexpr std::uint64_t kSignalBits = 0xff;
    if ((stack == 0) != (stack_bytes == 0)) return -EINVAL;
    if (stack_bytes > kUserEnd || stack > kUserEnd - stack_bytes) return -EINVAL;
    if ((arguments.flags & kSignalBits) != 0) return -EINVAL;
    const bool threads = (arguments.flags & (CLONE_THREAD | CLONE_PARENT)) != 0;
    if (arguments.exit_signal > kSignalBits || (threads && arguments.exit_signal != 0)) return -EINVAL;
    return (arguments.flags & CLONE_SIGHAND) != 0 && (arguments.flags & CLONE_CLEAR_SIGHAND) != 0 ? -EINVAL : 0;
}

/// The arguments in `room`, which stays zero behind them; what it has no room for must be zero.
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

long clone_as(Call& call, CloneWish& wish) {
    return (wish.flags & CLONE_VM) != 0 ? clone_sharing(call, wish) : clone_copying(call, wish);
}

}  // namespace

long clone(Call& call) {
    CloneWish wish;
    wish.flags = call.argument[0];
    wish.stack = call.argument[1];
    wish.parent_tid = call.argument[2];
    wish.child_tid = call.argument[3];
    wish.tls = call.argument[4];
    return clone_as(call, wish);
}

long clone3(Call& call) {
    clone_args arguments{};
    const std::uint64_t bytes = call.argument[1];
    if (const long error = copy_arguments(call.argument[0], bytes, arguments); error != 0) return error;
    if (const long error = check(arguments, arguments.stack, arguments.stack_size); error != 0) return error;
    CloneWish wish{arguments.flags | arguments.exit_signal,
                   arguments.stack + arguments.stack_size,
                   arguments.parent_tid,
                   arguments.child_tid,
                   arguments.tls,
                   &arguments,
                   std::min<std::uint64_t>(bytes, sizeof arguments)};
    wish.clear_handlers = (arguments.flags & CLONE_CLEAR_SIGHAND) != 0;
    arguments.flags &= ~std::uint64_t{CLONE_CLEAR_SIGHAND};
    return clone_as(call, wish);
}

long fork(Call& call) {
    constexpr std::uint64_t kChildSignal = 17;
    CloneWish wish;
    wish.flags = kChildSignal;
    return clone_as(call, wish);
}

long vfork(Call& call) {
    constexpr std::uint64_t kChildSignal = 17;
    CloneWish wish;
    wish.flags = CLONE_VFORK | CLONE_VM | kChildSignal;
    return clone_as(call, wish);
}

}  // namespace anyperf::engine::handlers
