#include "perfdata/tracing/tracepoints.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "perfdata/tracing/tracing_data.h"
#include "perfdata/writer/byte_writer.h"

namespace anyperf::perfdata {
namespace {

constexpr std::string_view kCommon =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:int value;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] path;\toffset:20;\tsize:4;\tsigned:0;\n"
    "\tfield:u64 address;\toffset:24;\tsize:8;\tsigned:0;\n"
    "\tfield:__u8 ip[4];\toffset:32;\tsize:4;\tsigned:0;\n\n";

void put_sized(ByteWriter& to, std::string_view text) {
    to.u64(text.size()).bytes(std::as_bytes(std::span{text}));
}

/// A section with one tracepoint, number 7.
std::vector<std::byte> section_with(std::string_view print) {
    const std::string text = "name: made\nID: 7\n" + std::string{kCommon} + "print fmt: " + std::string{print} + "\n";
    constexpr std::string_view kHead{"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0", 32};
    constexpr std::string_view kHeaderEvent{"header_event\0", 13}, kSystem{"made_system\0", 12};
    ByteWriter data;
    data.bytes(std::as_bytes(std::span{kHead})).u64(0);
    data.bytes(std::as_bytes(std::span{kHeaderEvent})).u64(0);
    data.u32(0).u32(1).bytes(std::as_bytes(std::span{kSystem})).u32(1);
    put_sized(data, text);
    return data.take();
}

std::vector<std::byte> raw_event(std::int32_t value, std::uint64_t address) {
    constexpr std::string_view kComm{"shell\0\0\0", 8}, kPath{"/tmp/x\0", 7};
    ByteWriter raw;
    raw.u32(7).u32(99).bytes(std::as_bytes(std::span{kComm})).u32(static_cast<std::uint32_t>(value));
    raw.u32(7u << 16 | 36u).u64(address).u32(0x0100'007f).bytes(std::as_bytes(std::span{kPath}));
    return raw.take();
}

std::string text_of(std::string_view print, std::int32_t value = -3, std::uint64_t address = 0x1234) {
    Tracepoints tracepoints{section_with(print), [](std::uint64_t at) -> std::optional<KernelPlace> {
                                if (at != 0x1234) return std::nullopt;
                                return KernelPlace{"schedule", 4};
                            }};
    std::string text;
    EXPECT_TRUE(tracepoints.append(7, raw_event(value, address), text)) << print;
    return text;
}

TEST(Tracing, FieldsAreReadFromTheFormat) {
    const TracingData data = read_tracing_data(section_with("\"\""));
    ASSERT_EQ(data.formats.size(), 1u);
    EXPECT_EQ(data.formats[0].system, "made_system");
    const auto format = parse_event_format(data.formats[0].text);
    ASSERT_TRUE(format);
    EXPECT_EQ(format->name, "made");
    EXPECT_EQ(format->id, 7u);
    ASSERT_EQ(format->fields.size(), 9u);
    EXPECT_EQ(format->fields[format->first_own].name, "comm");
    EXPECT_TRUE(format->find("comm")->is_text);
    EXPECT_TRUE(format->find("path")->is_dynamic);
    EXPECT_EQ(format->find("ip")->element_bytes, 1u);
}

TEST(Tracing, NumbersAndTextsAreFormattedAsByPrintf) {
    EXPECT_EQ(text_of(R"("comm=%s value=%d [%5d|%-5d|%03d] 100%%", REC->comm, REC->value, REC->value, REC->value, 7)"),
              "comm=shell value=-3 [   -3|-3   |007] 100%");
    EXPECT_EQ(
        text_of(R"("%x %llx %#lx %u %c %.3s|%8s|", REC->value, REC->address, REC->address, 5, 65, REC->comm, "ab")"),
        "fffffffd 1234 0x1234 5 A she|      ab|");
    EXPECT_EQ(text_of(R"("%s: %s" " end\n", __get_str(path), 1 ? "yes" : "no")"), "/tmp/x: yes end\n");
    EXPECT_EQ(text_of(R"("%*d %.*s %.*s", 4, 1, 2, REC->comm, REC->value, REC->comm)"), "   1 sh shell");
}

TEST(Tracing, ExpressionsAreThoseOfC) {
    EXPECT_EQ(text_of(R"("%d %d", ((unsigned int) ((REC->address) >> 4)), (REC->value & ((1U << 4) - 1)) * 2 + 1)"),
              "291 27");
    EXPECT_EQ(text_of(R"("%d %d %d", 2 + 3 * 4, !(REC->value == 0) && 1, REC->value ? 10 : 20)"), "14 1 10");
    EXPECT_EQ(text_of(R"("%u %d", (u8)REC->value, REC->ip[0])"), "253 127");
    EXPECT_EQ(text_of(R"("%lu %d", sizeof(u64) + sizeof(unsigned int), __builtin_expect(!!(1), 0))"), "12 1");
    EXPECT_EQ(text_of(R"("%d", 1 / (REC->value - REC->value))"), "0");
}

TEST(Tracing, FlagsAndSymbolsHaveTheirNames) {
    constexpr std::string_view kFlags =
        R"("%s", __print_flags(REC->address, "|", { 1, "A" }, { 1 << 2, "B" }, { 0x10UL, "C" }))";
    EXPECT_EQ(text_of(kFlags, 0, 5), "A|B");
    EXPECT_EQ(text_of(kFlags, 0, 0x21), "A|0x20");
    EXPECT_EQ(text_of(kFlags, 0, 0), "");
    constexpr std::string_view kSymbols = R"("%s", __print_symbolic(REC->value, { 0, "ZERO" }, { 3, "THREE" }))";
    EXPECT_EQ(text_of(kSymbols, 3), "THREE");
    EXPECT_EQ(text_of(kSymbols, 4), "0x4");
}

TEST(Tracing, PointersHaveTheKernelsForms) {
    EXPECT_EQ(text_of(R"("%p %pS %ps", REC->address, (void *)REC->address, REC->address)"),
              "0x1234 schedule+0x4 schedule");
    EXPECT_EQ(text_of(R"("%p %pS", REC->address, REC->address)", 0, 0), "(nil) 0x0");
    EXPECT_EQ(text_of(R"("%pI4 %pi4 %pM", REC->ip, &REC->ip, REC->ip)"), "127.0.0.1 127.000.000.001 INVALIDMAC");
    EXPECT_EQ(text_of(R"("%s %s", __print_hex(REC->ip, 4), __print_array(REC->ip, 2, 1))"), "7f 00 00 01 127 0");
}

TEST(Tracing, CharactersAndBits) {
    EXPECT_EQ(text_of(R"("[%c%c] %*pbl", REC->value ? 'F' : ' ', 'x', 32, REC->ip)"), "[Fx] 0-6,24");
    EXPECT_EQ(text_of(R"("%llx", 1ULL << 65)"), "2");
}

TEST(Tracing, WhatCannotBeParsedIsPrintedFieldByField) {
    EXPECT_EQ(text_of(R"("%d", unknown_function(REC->value))"),
              "[FAILED TO PARSE] comm=shell value=-3 path=/tmp/x address=4660 ip=ARRAY[7f, 00, 00, 01]");
    EXPECT_EQ(text_of(R"("%d", REC->missing)").substr(0, 17), "[FAILED TO PARSE]");
    std::string deep = R"("%d", )";
    deep.append(100'000, '(');
    EXPECT_EQ(text_of(deep).substr(0, 17), "[FAILED TO PARSE]");
    std::string chain = R"("%d", 1)";
    for (int i = 0; i < 100'000; ++i) chain += "+1";
    EXPECT_EQ(text_of(chain).substr(0, 17), "[FAILED TO PARSE]");
}

TEST(Tracing, BytesThatAreMissingAreZeroAndEmpty) {
    const std::vector<std::byte> section =
        section_with(R"("%s %d %s %s", REC->comm, REC->value, __get_str(path), __print_hex(REC->ip, 1000000))");
    const std::vector<std::byte> whole = raw_event(5, 0);
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        Tracepoints tracepoints{section, [](std::uint64_t) { return std::optional<KernelPlace>{}; }};
        std::string text;
        EXPECT_TRUE(tracepoints.append(7, Bytes{whole}.first(size), text));
        EXPECT_FALSE(tracepoints.append(8, whole, text));
    }
    for (std::size_t size = 0; size < section.size(); ++size) read_tracing_data(Bytes{section}.first(size));
}

}  // namespace
}  // namespace anyperf::perfdata
