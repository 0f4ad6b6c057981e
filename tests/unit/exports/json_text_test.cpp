#include "exports/json_text.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace {

using anyperf::exports::JsonText;

TEST(JsonTextTest, CommasAreBetweenMembersAndElements) {
    JsonText json;
    json.open('{').member("a", 1).key("list").open('[').value(true).null().value("x").close(']').member("b", -2);
    EXPECT_EQ(json.close('}').take(), R"({"a":1,"list":[true,null,"x"],"b":-2})");
}

TEST(JsonTextTest, TextsAreEscapedAndBytesThatAreNotUtf8AreReplaced) {
    JsonText json;
    EXPECT_EQ(json.value(std::string_view{"a\"\n\xff"}).take(), "\"a\\\"\\n\xef\xbf\xbd\"");
}

TEST(JsonTextTest, TimesAreExactDecimals) {
    JsonText json;
    json.open('[').time(1'500'000, 1'000'000).time(2'000'001, 1'000'000).time(3'000, 1'000).time(0, 1'000);
    EXPECT_EQ(json.close(']').take(), "[1.5,2.000001,3,0]");
}

TEST(JsonTextTest, PartsAndTheRestAreTheWholeText) {
    std::string whole;
    std::size_t parts = 0;
    JsonText json{[&](std::string_view part) {
        whole += part;
        ++parts;
    }};
    JsonText at_once;
    for (JsonText* each : {&json, &at_once}) {
        each->open('[');
        for (int i = 0; i < 300'000; ++i) each->line().open('{').member("number", i).close('}');
        each->close(']').line();
    }
    whole += json.take();
    EXPECT_GT(parts, 2u);
    EXPECT_EQ(whole, at_once.take());
}

}  // namespace
