// formats.cpp: the list of all formats. A row says what a format can carry, which decides what is read from a recording
// at all: without `threads` samples of all threads are summed up, without `times` samples of one stack are one row. The
// help text and the refusals of `export` come from here, too.
#include <algorithm>
#include <array>

#include "exports/exporter.h"

namespace anyperf::exports {

namespace {

// What is not set is false: the format does not have it.
constexpr std::array kFormats{
    Format{.name = "html",
           .summary = "a page for a browser, with everything in it",
           .threads = true,
           .times = true,
           .one_event = true,
           .baseline = true,
           .write = write_html},
    Format{.name = "folded",
           .summary = "a line for each stack, for flamegraph.pl, inferno and speedscope",
           .one_event = true,
           .write = write_folded},
    Format{.name = "speedscope",
           .summary = "for speedscope.app: a profile for each thread and event",
           .threads = true,
           .write = write_speedscope},
    Format{.name = "pprof",
           .summary = "for pprof and Grafana Pyroscope: protobuf, compressed by gzip",
           .threads = true,
           .binary = true,
           .write = write_pprof},
    Format{.name = "otlp",
           .summary = "for OpenTelemetry: protobuf of profiles v1development, as of August 2026",
           .threads = true,
           .binary = true,
           .write = write_otlp},
    Format{.name = "firefox",
           .summary = "for profiler.firefox.com: the processed format, version 57",
           .threads = true,
           .times = true,
           .write = write_firefox},
    Format{.name = "chrome",
           .summary = "for Perfetto and chrome://tracing: trace events as JSON",
           .threads = true,
           .times = true,
           .one_event = true,
           .write = write_chrome},
    Format{.name = "callgrind",
           .summary = "for KCachegrind and callgrind_annotate: costs of addresses and of calls",
           .write = write_callgrind},
    Format{.name = "csv",
           .summary = "for spreadsheets: a line for each event, command, file and function",
           .write = write_csv},
    Format{.name = "json",
           .summary = "for programs: the whole profile, with stacks as a tree",
           .threads = true,
           .write = write_json},
};

}  // namespace

std::span<const Format> formats() {
    return kFormats;
}

const Format* format_named(std::string_view name) {
    const auto row = std::ranges::find(kFormats, name, &Format::name);
    return row == kFormats.end() ? nullptr : &*row;
}

}  // namespace anyperf::exports
