// log.cpp: each line opens the file, writes and closes it. This is slow, but the process keeps nothing between lines:
// no descriptor for the application to find or close, no buffer that a crash or an execve would lose, no lock that a
// fork would copy. Lines of several processes do not mix, because each is one write(2) to a file opened with O_APPEND.
#include "engine/log.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "engine/cache/packed_marks.h"
#include "engine/freestanding/kernel.h"
#include "engine/shown_ids.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::size_t kShownBytes = 96;  // of the translation of one instruction

/// Opens the log file, which the broker has made. If that was a regular file, another one may be at its path now: the
/// open must not wait for a pipe or follow a link.
long open_log(const run::RunHeader& run) {
    const int regular = run.log_inode != 0 ? O_NOFOLLOW | O_NONBLOCK : 0;
    return kernel_call(__NR_open, address_of(run.log_path),
                       static_cast<unsigned>(O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | regular));
}

/// Whether the file is the one that the broker has made. Someone may have put another file at its path, so that this
/// program writes to it.
bool is_log(const run::RunHeader& run, std::uint64_t fd) {
    if (run.log_inode == 0) return true;
    struct stat about{};
    return !is_error(kernel_call(__NR_fstat, fd, address_of(&about))) && about.st_dev == run.log_device &&
           about.st_ino == run.log_inode;
}

/// An instruction with its bytes and those of its translation.
void log_instruction(const Thread& thread, const Block& block, const Marks& marks, std::size_t index,
                     std::uint64_t pc) {
    std::uint8_t code[x86_64::kLongestInstruction] = {};
    const Mark& mark = marks[index];
    const std::size_t read = x86_64::guarded_prefix(code, at_address<const void>(pc), mark.guest_length);
    const std::size_t end = marks[index + 1].host;
    Line line = log_line(thread, "code");
    line.hex(pc).text(" ").bytes(code, read).text(" | ").hex(address_of(block.host + mark.host)).text(" ");
    line.bytes(block.host + mark.host, end - mark.host < kShownBytes ? end - mark.host : kShownBytes);
    log_write(thread, line);
}

/// The prologue of the first segment, which counts.
void log_prologue(const Thread& thread, const Block& block) {
    const std::size_t bytes = MarkReader{block}.next().host;
    if (bytes == 0) return;
    Line line = log_line(thread, "code");
    line.hex(block.pc).text(" | ").hex(address_of(block.host)).text(" ").bytes(block.host, bytes);
    log_write(thread, line);
}

}  // namespace

Line log_line(const Thread& thread, std::string_view kind) {
    Line line;
    line.decimal(kernel_call(__NR_getpid)).text(" ").decimal(thread.tid).text(" ").text(kind).text(" ");
    return line;
}

void log_write(const Thread& thread, Line& line) {
    const run::RunHeader& run = *thread.engine->run;
    const long fd = run.log_path[0] == 0 ? 2 : open_log(run);
    if (is_error(fd)) return;
    if (run.log_path[0] == 0 || is_log(run, static_cast<std::uint64_t>(fd))) line.write(static_cast<int>(fd));
    if (run.log_path[0] != 0) kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
}

void log_block(const Thread& thread, const Block& block) {
    Line line = log_line(thread, "block");
    line.hex(block.pc).text(" bytes ").decimal(block.guest_bytes).text(" instructions ").decimal(block.instructions);
    line.text(" at ").hex(address_of(block.host)).text(" bytes ").decimal(block.host_bytes);
    if (block.limit == kPathLeg)
        line.text(" leg");
    else if (block.limit != 0)
        line.text(" limit ").decimal(block.limit == kSingleInstruction ? 1 : block.limit & ~kTurnEnd);
    if (block.code != nullptr) line.text(" compared");
    if (block.trace) line.text(" trace");
    log_write(thread, line);
    if (!log_wants(*thread.engine, run::log::kCode)) return;
    log_prologue(thread, block);
    std::uint64_t pc = block.pc;
    const Marks marks{block};
    for (std::size_t i = 0; i < block.instructions; pc = marks.address_after(i++, pc))
        log_instruction(thread, block, marks, i, pc);
}

void log_link(const Thread& thread, const Exit& exit, const Block& to) {
    if (exit.to == 0) return;
    Line line = log_line(thread, "link");
    line.hex(address_of(thread.engine->cache.operand_of(exit)))
        .text(" to ")
        .hex(to.pc)
        .text(" at ")
        .hex(address_of(to.host));
    log_write(thread, line);
}

namespace {

/// "NAME(ARGUMENTS) = ANSWER".
void add_call(Line& line, const Call& call, std::string_view name, long answer) {
    if (name.empty())
        line.decimal(static_cast<std::int64_t>(call.number));
    else
        line.text(name);
    line.text("(");
    for (std::size_t i = 0; i < 6; ++i) line.text(i == 0 ? "" : ", ").hex(call.argument[i]);
    line.text(") = ");
    if (answer == kRestartSyscall)
        line.text("restarted after a signal");
    else if (is_error(answer))
        line.decimal(answer);
    else
        line.hex(static_cast<std::uint64_t>(answer));
}

Line schedule_line(const Thread& thread) {
    Line line;
    line.decimal(turns::shown_tid(thread)).text(" ");
    line.decimal(static_cast<std::int64_t>(retired_by(thread))).text(" ");
    return line;
}

}  // namespace

void log_syscall(const Call& call, std::string_view name, long answer) {
    Line line = log_line(call.thread, "syscall");
    add_call(line, call, name, answer);
    log_write(call.thread, line);
}

void log_turn(const Thread& thread, std::uint64_t number) {
    Line line = schedule_line(thread);
    line.text("turn ").decimal(static_cast<std::int64_t>(number)).text(" at ").hex(thread.registers.rip);
    log_write(thread, line);
}

void log_scheduled_call(const Call& call, std::string_view name, std::string_view path, long answer) {
    Line line = schedule_line(call.thread);
    add_call(line, call, name, answer);
    if (!path.empty()) line.text(" ").quoted(path);
    line.text(" at ").hex(call.next_rip);
    log_write(call.thread, line);
}

void log_scheduled_signal(const Thread& thread, int signal) {
    Line line = schedule_line(thread);
    line.text("signal ").decimal(signal).text(" at ").hex(thread.registers.rip);
    log_write(thread, line);
}

}  // namespace anyperf::engine
