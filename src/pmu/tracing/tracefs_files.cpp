// tracefs_files.cpp: the contents of the files. Nothing in a run uses header_page, header_event, printk_formats and the
// like, which describe ftrace's own ring buffer. They exist because `perf record` copies them into perf.data.
#include "pmu/tracing/tracefs_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace anyperf::pmu {
namespace {

/// events/header_page: the layout of a page of ftrace's ring buffer.
constexpr std::string_view kHeaderPage =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

/// events/header_event: the header of an entry in that ring buffer.
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

/// `perf probe` matches the README against patterns to find out which syntax the kernel supports ("*ref_ctr_offset*",
/// "*type: * x8/16/32/64,*"), so these lines keep the kernel's wording.
constexpr std::string_view kReadme =
    "tracing in a run of anyperf\n"
    "\n"
    "  uprobe_events: probes of programs, a line each; Create/append/remove/show\n"
    "\t  Format: p[:[<group>/][<event>]] <place> [<args>]\n"
    "\t          r[:[<group>/][<event>]] <place> [<args>]\n"
    "\t          -:[<group>/][<event>]\n"
    "\t   place (uprobe): <path>:<offset>[%return][(ref_ctr_offset)]\n"
    "\t    args: <name>=fetcharg[:type]\n"
    "\t fetcharg: (%<register>|$<stack>|$stack<index>|$retval|$comm|\\imm-value),\n"
    "\t           +|-[u]<offset>(<fetcharg>)\n"
    "\t    type: s8/16/32/64, u8/16/32/64, x8/16/32/64, string, ustring\n";

/// The format of ftrace:print, the event of ftrace's own messages. It is listed because perf treats a system without
/// any tracepoint as an error; it can't be opened.
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

std::string tracepoint_directory(const Tracepoint& tracepoint) {
    return fmt::format("{}/events/{}/{}", kTracefsRoot, tracepoint.system, tracepoint.name);
}

VirtualTree files_of_tracepoint(const Tracepoint& tracepoint) {
    const std::string directory = tracepoint_directory(tracepoint);
    VirtualTree tree;
    tree.files.push_back({directory + "/id", fmt::format("{}\n", tracepoint.id)});
    tree.files.push_back({directory + "/format", format_text(tracepoint)});
    return tree;
}

VirtualTree trace_files(const std::vector<Tracepoint>& tracepoints) {
    VirtualTree tree;
    const auto put = [&tree](std::string_view name, std::string content) {
        tree.files.push_back({fmt::format("{}/{}", kTracefsRoot, name), std::move(content)});
    };
    std::string names;
    std::set<std::string> systems{"ftrace"};
    for (const Tracepoint& tracepoint : tracepoints) {
        systems.insert(tracepoint.system);
        std::ranges::move(files_of_tracepoint(tracepoint).files, std::back_inserter(tree.files));
        names += fmt::format("{}:{}\n", tracepoint.system, tracepoint.name);
    }
    put("events/ftrace/print/id", "5\n");
    put("events/ftrace/print/format", std::string{kPrintFormat});
    for (const std::string& system : systems) put(fmt::format("events/{}/enable", system), "0\n");
    put("events/enable", "0\n");
    put("events/header_page", std::string{kHeaderPage});
    put("events/header_event", std::string{kHeaderEvent});
    put("README", std::string{kReadme});
    put("available_events", names);
    put("printk_formats", "");
    put("saved_cmdlines", "");
    put("trace_clock", "[local]\n");
    put("tracing_on", "0\n");
    tree.files.push_back({fmt::format("{}/uprobe_events", kTracefsRoot), "", true});
    tree.links.push_back({"/sys/kernel/debug/tracing", "../tracing"});
    return tree;
}

}  // namespace anyperf::pmu
