// Goal: what people and older versions send is taken exactly or refused with the place named.
#include "codec/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/instant_text.hpp"
#include "codec/sample_test.hpp"
#include "model/meta.hpp"
#include "model/verdict.hpp"

namespace tundish {
namespace {

using sample::full_thing;
using sample::Thing;
using testing::HasSubstr;

/// The message of a parse that must fail and must leave the object as it was.
std::string refusal(std::string_view text) {
  Thing thing = full_thing();
  const auto result = parse_json(text, thing);
  EXPECT_EQ(thing, full_thing()) << text;
  if (result) return "taken";
  EXPECT_EQ(result.error().code, Code::invalid);
  return result.error().message();
}

TEST(Json, round_trip_is_exact) {
  const Thing thing = full_thing();
  for (const int indent : {-1, 0, 2}) {
    Thing back;
    back.spec.spare = sample::Part{"must go", 9};
    back.grid = {{9}, {9}, {9}, {9}};
    ASSERT_TRUE(parse_json(render_json(thing, indent), back));
    EXPECT_EQ(back, thing);
  }
  Thing empty_back = full_thing();
  ASSERT_TRUE(parse_json(render_json(Thing{}), empty_back));
  EXPECT_EQ(empty_back, Thing{});
}

TEST(Json, renders_in_the_order_of_the_description) {
  sample::Spec spec;
  spec.parts = {{"a", 1}};
  EXPECT_EQ(render_json(spec),
            R"({"rack":"","parts":[{"model":"a","slot":1}],"spare":null,"labels":{}})");
  EXPECT_EQ(render_json(sample::Part{"a", 1}, 2), "{\n  \"model\": \"a\",\n  \"slot\": 1\n}");
  sample::Part one;
  sample::Part two{"b", 2};
  EXPECT_EQ(render_json_list({one, two}), R"([{"model":"none","slot":-1},{"model":"b","slot":2}])");
  EXPECT_EQ(render_json_list({}, 2), "[]");
}

TEST(Json, renders_broken_utf8_as_replacement) {
  EXPECT_EQ(render_json(sample::Part{"a\xff\"", 1}),
            "{\"model\":\"a\xef\xbf\xbd\\\"\",\"slot\":1}");
}

TEST(Json, missing_fields_keep_their_value_and_lists_are_replaced) {
  Thing thing = full_thing();
  ASSERT_TRUE(
      parse_json(R"({"spec":{"parts":[{"slot":5}]},"by_name":{"left":{"slot":8}}})", thing));
  Thing want = full_thing();
  want.spec.parts = {{"none", 5}};
  want.by_name = {{"left", {"none", 8}}};
  EXPECT_EQ(thing, want);
}

TEST(Json, an_optional_struct_is_merged_and_null_clears_it) {
  Thing thing = full_thing();
  ASSERT_TRUE(parse_json(R"({"spec":{"spare":{"slot":4}}})", thing));
  EXPECT_EQ(thing.spec.spare, (sample::Part{"c", 4}));
  ASSERT_TRUE(parse_json(R"({"spec":{"spare":null},"weight":null})", thing));
  EXPECT_EQ(thing.spec.spare, std::nullopt);
  EXPECT_EQ(thing.weight, std::nullopt);
}

TEST(Json, unknown_fields_are_named_with_their_path) {
  EXPECT_EQ(refusal(R"({"idd":"x"})"), "idd: unknown field (did you mean \"id\"?)");
  EXPECT_EQ(refusal(R"({"id":"changed","spec":{"parts":[{},{},{"modle":1}]}})"),
            "spec.parts[2].modle: unknown field (did you mean \"model\"?)");
  EXPECT_EQ(refusal(R"({"by_name":{"up":{"zzzzzz":1}}})"),
            "by_name.up.zzzzzz: unknown field (valid fields: model, slot)");
}

TEST(Json, wrong_types_are_named_with_path_found_and_expected) {
  EXPECT_EQ(refusal(R"({"count":"many"})"),
            "count: expected an integer of 64 bits, found text many");
  EXPECT_EQ(refusal(R"({"count":1.5})"),
            "count: expected an integer of 64 bits, found a number 1.5 (write digits only; the "
            "unit is the end of the field's name, as _s for seconds)");
  EXPECT_THAT(refusal(R"({"count":9223372036854775808})"), HasSubstr("64 bits"));
  EXPECT_EQ(refusal(R"({"weight":2147483648})"),
            "weight: expected an integer of 32 bits, found an integer 2147483648");
  EXPECT_EQ(refusal(R"({"grid":[[1],[2,3000000000]]})"),
            "grid[1][1]: expected an integer of 32 bits, found an integer 3000000000");
  EXPECT_EQ(refusal(R"({"ready":1})"), "ready: expected true or false, found an integer 1");
  EXPECT_EQ(refusal(R"({"spec":{"rack":null}})"),
            "spec.rack: expected text, found null (write \"\" for empty text)");
  EXPECT_EQ(refusal(R"({"spec":{"parts":{}}})"), "spec.parts: expected a list, found an object");
  EXPECT_EQ(refusal(R"({"spec":{"labels":[]}})"), "spec.labels: expected an object, found a list");
  EXPECT_EQ(refusal(R"({"spec":[]})"), "spec: expected an object, found a list");
  EXPECT_EQ(refusal(R"({"spec":{"parts":[{},3]}})"),
            "spec.parts[1]: expected an object, found an integer 3");
  EXPECT_EQ(refusal(R"({"phase":"stolen"})"),
            "phase: expected one of free, held, gone, found text stolen");
  EXPECT_THAT(refusal(R"({"phase":1})"), HasSubstr("free, held, gone"));
  EXPECT_THAT(refusal(R"({"since":"yesterday"})"), HasSubstr("since: expected a time"));
  EXPECT_EQ(refusal("[]"), "the document: expected an object, found a list");
}

TEST(Json, what_is_not_json_is_refused) {
  using std::string_literals::operator""s;
  EXPECT_EQ(refusal(R"({"id":"a","id":"b"})"), "not valid JSON: field \"id\" is given twice");
  EXPECT_THAT(refusal(R"({"spec":{"labels":{"a":"1","b":"2","a":"3"}}})"), HasSubstr("twice"));
  for (const auto& text : {""s, "{"s, "{}x"s, "{} {}"s, "{\"count\":NaN}"s, "{\"count\":1e999}"s,
                           "{\"id\":\"\xff\"}"s, "{\"id\":\"\\ud800\"}"s, "{}\0x"s, "{'id':1}"s,
                           "{\"count\":01}"s, "{\"id\":\"a\n\"}"s, "{,}"s, "nul"s}) {
    EXPECT_THAT(refusal(text), HasSubstr("not valid JSON")) << text;
  }
  const std::string deep = "{\"x\":" + std::string(100000, '[');
  EXPECT_EQ(refusal(deep), "not valid JSON: nested deeper than 64 levels");
}

TEST(Json, depth_64_is_taken) {
  const std::string text = std::string(64, '[') + std::string(64, ']');
  EXPECT_TRUE(JsonValue::parse(text));
  EXPECT_FALSE(JsonValue::parse("[" + text + "]"));
}

TEST(Json, unknown_members_survive_a_write_by_an_older_version) {
  const std::string newer =
      R"({"id":"a","colour":1.10,"spec":{"rack":"r","depth":{"x":[18446744073709551615]},)"
      R"("parts":[{"model":"m","lost":1}],"labels":{"k":"v"}}})";
  Thing thing;
  std::string kept;
  ASSERT_TRUE(parse_json(newer, thing, Unknown::keep_out, &kept));
  EXPECT_EQ(kept, R"({"spec":{"depth":{"x":[18446744073709551615]}},"colour":1.10})");
  thing.id = "b";
  thing.spec.labels.clear();
  const auto merged = JsonValue::parse(merge_json(render_json(thing), kept));
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->at("id").as_text(), "b");
  EXPECT_EQ(merged->at("colour").render(), "1.10");
  EXPECT_EQ(merged->at("spec").at("depth").render(), R"({"x":[18446744073709551615]})");
  EXPECT_EQ(merged->at("spec").at("labels").render(), "{}");
  EXPECT_EQ(merged->at("spec").at("rack").as_text(), "r");

  ASSERT_TRUE(parse_json(render_json(thing), thing, Unknown::keep_out, &kept));
  EXPECT_EQ(kept, "");
}

TEST(Json, merge_leaves_the_object_alone_when_there_is_nothing_to_add) {
  EXPECT_EQ(merge_json(R"({ "a" : 1 })", ""), R"({ "a" : 1 })");
  EXPECT_EQ(merge_json(R"({ "a" : 1 })", R"({"a":2})"), R"({ "a" : 1 })");
  EXPECT_EQ(merge_json(R"({ "a" : 1 })", "broken"), R"({ "a" : 1 })");
  EXPECT_EQ(merge_json(R"({"s":null})", R"({"s":{"x":1},"b":2})"), R"({"s":null,"b":2})");
}

TEST(Json, value_lookups_chain) {
  const auto value = JsonValue::parse(R"({"a":[1,-2.5,true,null,"x"],"b":{}})");
  ASSERT_TRUE(value);
  const JsonValue list = value->at("a");
  EXPECT_EQ(list.kind(), JsonValue::Kind::list);
  EXPECT_EQ(list.size(), 5u);
  EXPECT_EQ(list.at(0).as_integer(), 1);
  EXPECT_EQ(list.at(0).as_real(), 1.0);
  EXPECT_EQ(list.at(1).as_real(), -2.5);
  EXPECT_EQ(list.at(1).as_integer(), std::nullopt);
  EXPECT_EQ(list.at(2).as_flag(), true);
  EXPECT_EQ(list.at(3).kind(), JsonValue::Kind::null);
  EXPECT_EQ(list.items().at(4).as_text(), "x");
  EXPECT_TRUE(list.at(5).is_absent());
  EXPECT_TRUE(value->at("none").at("deeper").at(3).is_absent());
  EXPECT_EQ(value->at("none").as_text(), std::nullopt);
  EXPECT_EQ(value->members().at(1).first, "b");
  EXPECT_EQ(value->at("b").render(), "{}");
  EXPECT_FALSE(JsonValue::parse("[1,]"));
}

TEST(InstantText, round_trip_is_exact) {
  EXPECT_EQ(render_instant(Instant{1796025600123456}), "2026-11-30T08:00:00.123456Z");
  for (const std::int64_t us :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{1796025600123456},
        std::int64_t{951782400000000}, std::int64_t{253402300799999999},
        std::int64_t{253402300800000000}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(parse_instant(render_instant(Instant{us})), Instant{us}) << us;
  }
}

TEST(InstantText, takes_rfc_3339_and_nothing_else) {
  EXPECT_EQ(parse_instant("2026-11-30T09:30:00.5+01:30"), Instant{1796025600500000});
  EXPECT_EQ(parse_instant("2026-11-30T08:00:00Z"), Instant{1796025600000000});
  for (const auto* text : {"2026-02-30T08:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T08:60:00Z",
                           "2026-11-30T08:00:60Z", "2026-11-30T08:00:00", "2026-11-30T08:00:00.Z",
                           "2026-11-30T08:00:00.1234567Z", "2026-11-30 08:00:00Z", "@", "@1x",
                           "2026-11-30T08:00:00Zx", "20x6-11-30T08:00:00Z", "now"}) {
    EXPECT_EQ(parse_instant(text), std::nullopt) << text;
  }
}

/// As a newer version would write an incident and a condition.
TEST(Json, a_word_of_a_newer_version_is_read_as_unknown_and_kept) {
  Condition condition;
  const std::string newer = R"({"type":"drift","state":"suspected","reason":"r"})";
  EXPECT_FALSE(parse_json(newer, condition)) << "people and scripts: a typing error";
  std::string kept;
  ASSERT_TRUE(parse_json(newer, condition, Unknown::keep_out, &kept));
  EXPECT_EQ(condition.state, Truth::unknown);
  EXPECT_EQ(condition.reason, "r");
  condition.reason = "changed here";
  std::string merged = merge_json(render_json(condition), kept);
  EXPECT_NE(merged.find(R"("state":"suspected")"), std::string::npos) << merged;
  EXPECT_NE(merged.find("changed here"), std::string::npos) << merged;
  condition.state = Truth::yes;
  merged = merge_json(render_json(condition), kept);
  EXPECT_NE(merged.find(R"("state":"yes")"), std::string::npos) << "decided anew here";
  Verdict verdict;  // its enum has the word too, inside a list nothing is kept
  ASSERT_TRUE(parse_json(R"({"state":"flaky"})", verdict, Unknown::keep_out, &kept));
  EXPECT_EQ(verdict.state, VerdictState::unknown);
}

}  // namespace
}  // namespace tundish
