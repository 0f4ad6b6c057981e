// trace_files.cpp: see trace_files.h. What only the kernel's own ring buffer needs is there for perf record, which
// copies it into its files.
#include "pmu/trace_files.h"

#include <fmt/format.h>

#include <set>

namespace anyperf::pmu {
namespace {

constexpr std::string_view kHeaderPage =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

constexpr std::string_view kHeaderEvent =
    "# compressed entry header\n"
    "\ttype_len    :    5 bits\n"
    "\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n"
    "\n"
    "\tpadding     : type == 29\n"
    "\ttime_extend : type == 30\n"
    "\ttime_stamp : type == 31\n"
    "\tdata max type_len  == 28\n";

/// What the kernel's own tracer writes. perf takes a system without a single tracepoint for an error; this one can't be
/// opened.
constexpr std::string_view kPrintFormat =
    "name: print\n"
    "ID: 5\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n"
    "\n"
    "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";

}  // namespace

VirtualTree trace_files(const std::vector<Tracepoint>& tracepoints) {
    VirtualTree tree;
    const auto put = [&tree](std::string_view name, std::string content) {
        tree.files.push_back({fmt::format("{}/{}", kTracing, name), std::move(content)});
    };
    std::set<std::string> systems{"ftrace"};
    std::string names;
    for (const Tracepoint& tracepoint : tracepoints) {
        const std::string place = fmt::format("events/{}/{}", tracepoint.system, tracepoint.name);
        put(place + "/id", fmt::format("{}\n", tracepoint.id));
        put(place + "/format", format_text(tracepoint));
        systems.insert(tracepoint.system);
        names += fmt::format("{}:{}\n", tracepoint.system, tracepoint.name);
    }
    put("events/ftrace/print/id", "5\n");
    put("events/ftrace/print/format", std::string{kPrintFormat});
    for (const std::string& system : systems) put(fmt::format("events/{}/enable", system), "0\n");
    put("events/enable", "0\n");
    put("events/header_page", std::string{kHeaderPage});
    put("events/header_event", std::string{kHeaderEvent});
    put("available_events", names);
    put("printk_formats", "");
    put("saved_cmdlines", "");
    put("trace_clock", "[local]\n");
    put("tracing_on", "0\n");
    tree.links.push_back({"/sys/kernel/debug/tracing", "../tracing"});
    return tree;
}

}  // namespace anyperf::pmu
