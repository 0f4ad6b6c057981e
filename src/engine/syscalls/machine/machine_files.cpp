// machine_files.cpp: the texts are made when a file is opened. The machine has 8 GiB, no swap, no load and no limits;
// it has been up for kUptimeNs when the run begins, and idle.
#include "engine/syscalls/machine_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/freestanding/memory_file.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/machine/counter_files.h"
#include "engine/syscalls/machine/file_text.h"
#include "engine/syscalls/machine/process_files.h"
#include "engine/syscalls/machine_names.h"
#include "engine/syscalls/mount_files.h"
#include "engine/syscalls/proc_path.h"
#include "engine/time/virtual_clock.h"
#include "engine/turns/turns.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{8} << 30;
constexpr std::uint64_t kFreeBytes = std::uint64_t{6} << 30;

std::uint64_t uptime_ns(Thread& thread) {
    return monotonic_ns(look_at_clock(thread));
}

std::uint32_t cpus_of(const Engine& engine) {
    if (const std::uint32_t cpus = shown_cpus(engine); cpus != 0) return cpus;
    std::uint64_t mask[128] = {};
    kernel_call(__NR_sched_getaffinity, 0, sizeof mask, address_of(mask));
    std::uint32_t count = 0;
    for (std::uint64_t word : mask)
        for (; word != 0; word &= word - 1) ++count;
    return std::max(count, 1u);
}

void put_meminfo(Thread&, FileText& text) {
    const auto line = [&](std::string_view name, std::uint64_t bytes) {
        text.text(name).text(":        ").decimal(bytes >> 10).text(" kB\n");
    };
    line("MemTotal", kMemoryBytes);
    line("MemFree", kFreeBytes);
    line("MemAvailable", kFreeBytes);
    for (const std::string_view name :
         {"Buffers",      "Cached",   "SwapCached",   "Active",     "Inactive",    "Unevictable", "Mlocked",
          "SwapTotal",    "SwapFree", "Dirty",        "Writeback",  "AnonPages",   "Mapped",      "Shmem",
          "KReclaimable", "Slab",     "SReclaimable", "SUnreclaim", "KernelStack", "PageTables"})
        line(name, 0);
    line("CommitLimit", kMemoryBytes / 2);
    line("Committed_AS", 0);
    line("VmallocTotal", std::uint64_t{1} << 45);
    line("VmallocUsed", 0);
    text.text(
        "HugePages_Total:       0\nHugePages_Free:        0\nHugePages_Rsvd:        0\nHugePages_Surp:        0\n");
    line("Hugepagesize", std::uint64_t{2} << 20);
}

void put_stat(Thread& thread, FileText& text) {
    const std::uint32_t cpus = cpus_of(*thread.engine);
    const std::uint64_t ticks = uptime_ns(thread) / kNsOfTick;
    text.text("cpu  0 0 0 ").decimal(ticks * cpus).text(" 0 0 0 0 0 0\n");
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu)
        text.text("cpu").decimal(cpu).text(" 0 0 0 ").decimal(ticks).text(" 0 0 0 0 0 0\n");
    constexpr std::uint64_t kSecond = kNsOfSecond;
    const std::uint64_t booted = thread.engine->run->epoch_ns / kSecond;
    text.text("intr 0\nctxt 0\nbtime ").decimal(booted > kUptimeNs / kSecond ? booted - kUptimeNs / kSecond : 0);
    text.text("\nprocesses 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n");
}

void put_uptime(Thread& thread, FileText& text) {
    const std::uint64_t up = uptime_ns(thread);
    text.seconds(up).text(" ").seconds(up * cpus_of(*thread.engine)).text("\n");
}

void put_loadavg(Thread&, FileText& text) {
    text.text("0.00 0.00 0.00 1/100 1000\n");
}

void put_cpu_list(Thread& thread, FileText& text) {
    text.cpu_list(shown_cpus(*thread.engine)).text("\n");
}

void put_version(Thread&, FileText& text) {
    text.text("Linux version ").text(kShownRelease).text(" (anyperf) ").text(kShownVersion).text("\n");
}

void put_release(Thread&, FileText& text) {
    text.text(kShownRelease).text("\n");
}

void put_build(Thread&, FileText& text) {
    text.text(kShownVersion).text("\n");
}

void put_host(Thread&, FileText& text) {
    text.text(kShownHost).text("\n");
}

/// /proc/interrupts and /proc/softirqs: the line that names the CPUs. No interrupt has come.
void put_cpu_columns(Thread& thread, FileText& text) {
    text.text("           ");
    for (std::uint32_t cpu = 0; cpu < cpus_of(*thread.engine); ++cpu) text.text("CPU").decimal(cpu).text("       ");
    text.text("\n");
}

/// The counters that vmstat(8), sar(1) and free(1) read.
void put_vmstat(Thread&, FileText& text) {
    text.text("nr_free_pages ").decimal(kFreeBytes / 4096).text("\n");
    for (const std::string_view name :
         {"nr_dirty", "nr_writeback", "nr_slab_reclaimable", "nr_page_table_pages", "nr_mapped", "pgpgin", "pgpgout",
          "pswpin", "pswpout", "pgfault", "pgmajfault", "pgfree", "pgsteal_kswapd", "pgscan_kswapd", "oom_kill"})
        text.text(name).text(" 0\n");
}

/// /sys/devices/system/node/nodeN/NAME: node 0 has all of the memory. Programs with libnuma read these when they start.
/// False: it is another file.
bool put_node_file(std::string_view path, FileText& text) {
    constexpr std::string_view kStart = "/sys/devices/system/node/node";
    if (!path.starts_with(kStart)) return false;
    path.remove_prefix(kStart.size());
    const std::string_view number = path.substr(0, std::min(path.find('/'), path.size()));
    const bool has_memory = number == "0";
    path.remove_prefix(number.size());
    if (path == "/numastat") {
        text.text("numa_hit 0\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 0\nother_node 0\n");
    } else if (path == "/vmstat") {
        text.text("nr_free_pages ").decimal(has_memory ? kFreeBytes / 4096 : 0).text("\n");
    } else if (path == "/meminfo") {
        const auto line = [&](std::string_view name, std::uint64_t bytes) {
            text.text("Node ").text(number).text(" ").text(name).text(":        ").decimal(bytes >> 10).text(" kB\n");
        };
        line("MemTotal", has_memory ? kMemoryBytes : 0);
        line("MemFree", has_memory ? kFreeBytes : 0);
        line("MemUsed", has_memory ? kMemoryBytes - kFreeBytes : 0);
        for (const std::string_view name : {"Active", "Inactive", "Dirty", "FilePages", "Mapped", "AnonPages", "Slab"})
            line(name, 0);
        for (const std::string_view name : {"HugePages_Total", "HugePages_Free", "HugePages_Surp"})
            text.text("Node ").text(number).text(" ").text(name).text(":     0\n");
    } else {
        return false;
    }
    return true;
}

/// What makes the kernel's own file the one that programs see.
enum class Unless : std::uint8_t { nothing, cpus_are_the_hosts, names_are_set };

struct FileRow {
    std::string_view path;
    void (*put)(Thread&, FileText&);
    Unless unless = Unless::nothing;
};
constexpr std::array kFiles{
    FileRow{"/proc/meminfo", put_meminfo},
    FileRow{"/proc/stat", put_stat},
    FileRow{"/proc/uptime", put_uptime},
    FileRow{"/proc/loadavg", put_loadavg},
    FileRow{"/proc/interrupts", put_cpu_columns},
    FileRow{"/proc/softirqs", put_cpu_columns},
    FileRow{"/proc/vmstat", put_vmstat},
    FileRow{"/proc/version", put_version, Unless::names_are_set},
    FileRow{"/proc/sys/kernel/osrelease", put_release, Unless::names_are_set},
    FileRow{"/proc/sys/kernel/version", put_build, Unless::names_are_set},
    FileRow{"/proc/sys/kernel/hostname", put_host, Unless::names_are_set},
    FileRow{"/sys/devices/system/cpu/online", put_cpu_list, Unless::cpus_are_the_hosts},
    FileRow{"/sys/devices/system/cpu/possible", put_cpu_list, Unless::cpus_are_the_hosts},
    FileRow{"/sys/devices/system/cpu/present", put_cpu_list, Unless::cpus_are_the_hosts},
};

/// A file that always has the same text.
struct TextRow {
    std::string_view name;
    std::string_view text;
};

/// Files that report what the machine does, which is nothing. The names are paths.
constexpr std::string_view kNoPressure =
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
constexpr std::array kIdleFiles{
    TextRow{"/proc/diskstats", ""},
    TextRow{"/proc/buddyinfo", ""},
    TextRow{"/proc/pressure/cpu", kNoPressure},
    TextRow{"/proc/pressure/io", kNoPressure},
    TextRow{"/proc/pressure/memory", kNoPressure},
    TextRow{"/proc/net/sockstat",
            "sockets: used 0\nTCP: inuse 0 orphan 0 tw 0 alloc 0 mem 0\nUDP: inuse 0 mem 0\nUDPLITE: inuse 0\n"
            "RAW: inuse 0\nFRAG: inuse 0 memory 0\n"},
    TextRow{"/proc/sys/fs/file-nr", "0\t0\t9223372036854775807\n"},
    TextRow{"/proc/sys/fs/inode-nr", "0\t0\n"},
    TextRow{"/proc/sys/fs/inode-state", "0\t0\t0\t0\t0\t0\t0\n"},
    TextRow{"/proc/sys/fs/dentry-state", "0\t0\t45\t0\t0\t0\n"},
};

/// Files of control groups, of both versions: no limit, nothing used.
constexpr std::string_view kNoLimit = "9223372036854771712\n";
constexpr std::string_view kNothing = "0\n";
constexpr std::string_view kMost = "max\n";
constexpr std::array kGroupFiles{
    TextRow{"memory.current", kNothing},
    TextRow{"memory.peak", kNothing},
    TextRow{"memory.max", kMost},
    TextRow{"memory.high", kMost},
    TextRow{"memory.swap.current", kNothing},
    TextRow{"memory.swap.max", kMost},
    TextRow{"memory.usage_in_bytes", kNothing},
    TextRow{"memory.max_usage_in_bytes", kNothing},
    TextRow{"memory.limit_in_bytes", kNoLimit},
    TextRow{"memory.soft_limit_in_bytes", kNoLimit},
    TextRow{"memory.memsw.limit_in_bytes", kNoLimit},
    TextRow{"memory.memsw.usage_in_bytes", kNothing},
    TextRow{"memory.failcnt", kNothing},
    TextRow{"memory.stat",
            "anon 0\nfile 0\nkernel 0\ncache 0\nrss 0\nmapped_file 0\nswap 0\nactive_anon 0\ninactive_anon 0\n"
            "active_file 0\ninactive_file 0\nhierarchical_memory_limit 9223372036854771712\n"
            "hierarchical_memsw_limit 9223372036854771712\ntotal_cache 0\ntotal_rss 0\ntotal_swap 0\n"},
    TextRow{"cpu.max", "max 100000\n"},
    TextRow{"cpu.cfs_quota_us", "-1\n"},
    TextRow{"cpu.cfs_period_us", "100000\n"},
    TextRow{"cpu.stat", "usage_usec 0\nuser_usec 0\nsystem_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n"},
    TextRow{"cpu.pressure", kNoPressure},
    TextRow{"io.pressure", kNoPressure},
    TextRow{"memory.pressure", kNoPressure},
    TextRow{"cpuacct.usage", kNothing},
    TextRow{"cpuacct.usage_percpu", kNothing},
};

bool is_kernels(const Engine& engine, const FileRow& row) {
    switch (row.unless) {
        case Unless::cpus_are_the_hosts: return shown_cpus(engine) == 0;
        case Unless::names_are_set: return !shows_names(engine);
        default: return false;
    }
}

/// The text of a machine's file. False: the run does not give it.
bool put_file(Thread& thread, std::string_view path, FileText& out) {
    const auto row = std::ranges::find(kFiles, path, &FileRow::path);
    if (row != kFiles.end() && !is_kernels(*thread.engine, *row)) {
        row->put(thread, out);
        return true;
    }
    if (const auto idle = std::ranges::find(kIdleFiles, path, &TextRow::name); idle != kIdleFiles.end()) {
        out.text(idle->text);
        return true;
    }
    if (put_node_file(path, out)) return true;
    if (!path.starts_with("/sys/fs/cgroup/")) return false;
    const auto group = std::ranges::find(kGroupFiles, after(path, path.rfind('/') + 1), &TextRow::name);
    if (group == kGroupFiles.end()) return false;
    out.text(group->text);
    return true;
}

}  // namespace

std::uint32_t shown_cpus(const Engine& engine) {
    return engine.run != nullptr ? engine.run->cpus : 0;
}

bool open_machine_file(Call& call, unsigned path, std::uint64_t flags, long& answer) {
    if (!has_virtual_clock(call.engine) || (flags & O_ACCMODE) != O_RDONLY) return false;
    char room[256];
    char start[4];
    if (!x86_64::guarded_copy(start, at_address<const void>(call.argument[path]), sizeof start) || start[0] != '/' ||
        (start[1] != 'p' && start[1] != 's'))
        return false;
    const std::string_view name = copy_path(call.argument[path], room, sizeof room);
    const ProcPath at = parse_proc_path(name);
    FileText text;
    const bool of_machine = put_file(call.thread, name, text);
    const bool of_counters = !of_machine && is_counter_file(name);
    if (!of_machine && !of_counters && !is_process_file(at) && !is_mount_file(at)) return false;
    answer = call.pass_to_kernel();  // it has to be there, and the program has to be allowed to read it
    if (is_error(answer) || answer == kRestartSyscall) return true;
    if (of_counters || is_mount_file(at)) {
        const auto fd = static_cast<std::uint64_t>(answer);
        answer =
            of_counters ? copy_counter_file(call.engine, name, fd, flags) : copy_mount_file(call.engine, at, fd, flags);
        kernel_call(__NR_close, fd);
        return true;
    }
    if (!of_machine && !put_process_file(call.thread, name, static_cast<std::uint64_t>(answer), text)) {
        kernel_call(__NR_lseek, static_cast<std::uint64_t>(answer), 0, SEEK_SET);
        return true;
    }
    kernel_call(__NR_close, static_cast<std::uint64_t>(answer));
    answer = make_memory_file("machine", text.view(), flags);
    return true;
}

namespace handlers {

long sysinfo(Call& call) {
    const long answer = call.pass_to_kernel();
    if (answer != 0 || !has_virtual_clock(call.engine)) return answer;
    struct ::sysinfo info{};
    info.uptime = static_cast<long>(uptime_ns(call.thread) / static_cast<std::uint64_t>(kNsOfSecond));
    info.totalram = kMemoryBytes;
    info.freeram = kFreeBytes;
    info.procs = 1;
    info.mem_unit = 1;
    return x86_64::guarded_copy(at_address<void>(call.argument[0]), &info, sizeof info) ? 0 : -EFAULT;
}

long sched_getaffinity(Call& call) {
    const std::uint32_t cpus = shown_cpus(call.engine);
    const long answer = call.pass_to_kernel();
    if (cpus == 0 || is_error(answer)) return answer;
    std::uint64_t mask = cpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << cpus) - 1;
    const std::uint64_t wanted =
        turns::on(call.engine) && call.argument[0] == 0 ? turns::slot_of(call.thread).affinity : 0;
    if (wanted != 0) mask &= wanted;
    return x86_64::guarded_copy(at_address<void>(call.argument[2]), &mask, sizeof mask) ? long{sizeof mask} : -EFAULT;
}

long sched_setaffinity(Call& call) {
    const std::uint32_t cpus = shown_cpus(call.engine);
    if (cpus == 0) return call.pass_to_kernel();
    std::uint64_t mask = 0;
    const std::uint64_t bytes = std::min<std::uint64_t>(call.argument[1], sizeof mask);
    if (!x86_64::guarded_copy(&mask, at_address<const void>(call.argument[2]), bytes)) return -EFAULT;
    const std::uint64_t all = cpus == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << cpus) - 1;
    if ((mask & all) == 0) return -EINVAL;
    if (turns::on(call.engine) && call.argument[0] == 0) turns::slot_of(call.thread).affinity = mask & all;
    return 0;
}

}  // namespace handlers

}  // namespace anyperf::engine
