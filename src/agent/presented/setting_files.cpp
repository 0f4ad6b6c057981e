#include "agent/presented/setting_files.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <climits>

#include "agent/broker_request.h"
#include "agent/presented/presented_file.h"
#include "engine/freestanding/descriptor_link.h"
#include "engine/freestanding/text.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

namespace {

using engine::address_of;
using engine::at_address;
using engine::Call;
using engine::is_error;
using engine::kernel_call;
using engine::x86_64::guarded_copy;

/// A setting that is a number, and what it may be (kern_table of kernel/events/core.c and callchain.c in Linux 6.18;
/// perf_event_mux_interval_ms_store()).
struct NumberRow {
    std::string_view name;
    std::int64_t least, most;
};
constexpr std::array kNumbers{
    NumberRow{"/perf_event_paranoid", INT_MIN, INT_MAX},
    NumberRow{"/perf_event_mlock_kb", INT_MIN, INT_MAX},
    NumberRow{"/perf_event_max_sample_rate", 1, INT_MAX},
    NumberRow{"/perf_cpu_time_max_percent", 0, 100},
    NumberRow{"/perf_event_max_stack", 0, std::int64_t{640} * 1024},
    NumberRow{"/perf_event_max_contexts_per_stack", 0, 1000},
    NumberRow{"/perf_event_mux_interval_ms", 1, INT_MAX},
};

const NumberRow* row_of(std::string_view path) {
    const auto row = std::ranges::find_if(kNumbers, [=](const NumberRow& r) { return path.ends_with(r.name); });
    return row == kNumbers.end() ? nullptr : row;
}

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

std::size_t spaces_at(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is_space) - text.begin());
}

/// A digit in base 16; 16 for any other character.
unsigned digit_of(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a' + 10) : 16;
}

/// Takes the base of a number off its beginning, as simple_strtoul() with base 0.
unsigned take_base(std::string_view& text) {
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        return 16;
    }
    return text.starts_with('0') ? 8 : 10;
}

/// Takes a number and the spaces around it off the beginning of `text` (proc_get_long() in kernel/sysctl.c). False:
/// there is none, or it does not fit an int.
bool take_number(std::string_view& text, std::int64_t& number) {
    text.remove_prefix(spaces_at(text));
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    if (text.empty() || text.front() < '0' || text.front() > '9') return false;
    const unsigned base = take_base(text);
    std::int64_t value = 0;
    for (; !text.empty() && digit_of(text.front()) < base; text.remove_prefix(1)) {
        value = value * base + digit_of(text.front());
        if (value > std::int64_t{INT_MAX} + (negative ? 1 : 0)) return false;
    }
    if (!text.empty() && !is_space(text.front())) return false;
    text.remove_prefix(spaces_at(text));
    number = negative ? -value : value;
    return true;
}

/// Replaces the content of the file. Whoever reads it meanwhile finds a number at its beginning.
long store_number(std::uint64_t fd, std::int64_t number) {
    engine::Line text;
    text.decimal(static_cast<std::int32_t>(number)).text("\n");
    const std::size_t bytes = text.view().size();
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): its length is the next argument
    const long stored = kernel_call(__NR_pwrite64, fd, address_of(text.view().data()), bytes, 0);
    return is_error(stored) ? stored : kernel_call(__NR_ftruncate, fd, bytes);
}

/// The row of the file that the descriptor refers to; null: it is no number.
const NumberRow* row_of_descriptor(std::uint64_t fd) {
    char room[512];
    const std::string_view path = engine::link_of_descriptor(fd, room);
    return path.empty() ? nullptr : row_of(path);
}

long write_number(const Call& call, const NumberRow& row) {
    constexpr std::size_t kLongest = 128;  // a longer text is spaces
    char room[kLongest];
    const std::size_t bytes = std::min<std::size_t>(call.argument[2], kLongest);
    if (!guarded_copy(room, at_address<const void>(call.argument[1]), bytes)) return -EFAULT;
    std::string_view text{room, bytes};
    std::int64_t number = 0;
    if (!take_number(text, number) || number < row.least || number > row.most) return -EINVAL;
    const long stored = store_number(call.argument[0], number);
    return is_error(stored) ? stored : static_cast<long>(call.argument[2] - text.size());
}

}  // namespace

void before_setting_open(Call& call, std::string_view path, std::uint64_t& flags) {
    if ((flags & O_ACCMODE) == O_RDONLY || (!path.ends_with("/cpu/rdpmc") && row_of(path) == nullptr)) return;
    flags &= ~std::uint64_t{O_TRUNC};
    __atomic_store_n(&call.engine.run_use->rdpmc_file, 1, __ATOMIC_RELEASE);
}

bool write_setting(Call& call, long& answer) {
    if (!has_broker(call.engine)) return false;
    if (__atomic_load_n(&call.engine.run_use->rdpmc_file, __ATOMIC_ACQUIRE) == 0) return false;
    const std::uint64_t fd = call.argument[0];
    if (writes_presented_file(call, fd, call.engine.run->rdpmc_file)) {
        BrokerRequest request{call.thread, run::RequestKind::allow_rdpmc};
        answer = request.from_application(call.argument[1], call.argument[2]).send();
        return true;
    }
    const NumberRow* const row = writes_some_presented_file(call, fd) ? row_of_descriptor(fd) : nullptr;
    if (row == nullptr) return false;
    answer = write_number(call, *row);
    return true;
}

}  // namespace anyperf::agent
