// Tables, flattening, diffs and generated documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/columns.hpp"
#include "codec/json.hpp"
#include "codec/reference.hpp"
#include "codec/sample_test.hpp"
#include "codec/table.hpp"
#include "codec/utf8.hpp"

namespace tundish {
namespace {

using sample::full_thing;
using sample::Thing;
using testing::HasSubstr;

TEST(Table, columns_line_up_without_trailing_blanks) {
  EXPECT_EQ(render_table({"NAME", "PHASE"}, {{"n1", "ready"}, {"node-22", ""}, {"x"}}),
            "NAME      PHASE\nn1        ready\nnode-22\nx\n");
  EXPECT_EQ(render_table({}, {}), "\n");
}

TEST(Table, width_is_what_a_terminal_shows) {
  EXPECT_EQ(render_table({"A", "B"}, {{"Köln", "1"}, {"日本", "2"}, {"e\xcc\x81", "3"}}),
            "A      B\nKöln   1\n日本   2\ne\xcc\x81      3\n");
}

TEST(Table, stored_text_cannot_drive_the_terminal) {
  EXPECT_EQ(render_table({"A"}, {{"x\x1b[2J\ny\xff\xe2\x80\xae"}}), "A\nx?[2J y\xef\xbf\xbd?\n");
}

TEST(Utf8, refuses_what_is_not_utf8) {
  EXPECT_EQ(find_invalid_utf8("aü日🙂"), std::nullopt);
  for (const auto* text : {"\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82",
                           "\xf8\x88\x80\x80\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80"}) {
    EXPECT_EQ(find_invalid_utf8(std::string("ab") + text), 2u);
  }
  std::string all;
  for (const char32_t value : {U'a', U'ü', U'日', U'🙂'}) append_utf8(all, value);
  EXPECT_EQ(all, "aü日🙂");
}

TEST(Columns, flatten_follows_the_description) {
  Thing thing = full_thing();
  thing.id = "t";
  const std::vector<std::pair<std::string, std::string>> want{
      {"id", "t"},
      {"spec.rack", "r01"},
      {"spec.parts[0].model", "a"},
      {"spec.parts[0].slot", "1"},
      {"spec.parts[1].model", "b"},
      {"spec.parts[1].slot", "2"},
      {"spec.spare.model", "c"},
      {"spec.spare.slot", "3"},
      {"spec.labels.", "empty key"},
      {"spec.labels.owner", "x"},
      {"phase", "gone"},
      {"ready", "true"},
      {"count", "-9223372036854775808"},
      {"limit", "90000000"},
      {"since", "2026-11-30T08:00:00.123456Z"},
      {"weight", "-2147483648"},
      {"grid[0][0]", "1"},
      {"grid[0][1]", "2"},
      {"grid[2][0]", "3"},
      {"by_name.left.model", "l"},
      {"by_name.left.slot", "1"},
      {"by_name.right.model", "r"},
      {"by_name.right.slot", "2"}};
  EXPECT_EQ(flatten(thing), want);
}

TEST(Columns, diff_shows_each_value_that_differs) {
  Thing a = full_thing();
  Thing b = full_thing();
  EXPECT_TRUE(diff(a, b).empty());
  b.spec.rack = "r02";
  b.spec.parts.pop_back();
  b.spec.labels["owner"] = "";
  b.phase = sample::Phase::held;
  a.weight.reset();
  EXPECT_EQ(diff(a, b), (std::vector<std::string>{
                            "spec.rack: r01 -> r02", "spec.parts[1].model: b -> (none)",
                            "spec.parts[1].slot: 2 -> (none)", "spec.labels.owner: x -> \"\"",
                            "phase: gone -> held", "weight: (none) -> -2147483648"}));
}

TEST(Reference, lists_every_field_with_type_and_meaning) {
  Thing scratch = full_thing();
  const std::string text = render_reference("Thing", scratch);
  EXPECT_EQ(scratch, full_thing());
  EXPECT_THAT(text, HasSubstr("## Thing\n\n| Field | Type | Meaning |\n|---|---|---|\n"
                              "| `id` | text | Unique name. |\n"
                              "| `spec` | object | What the user wants. |\n"
                              "| `spec.rack` | text | Name of the rack. |\n"
                              "| `spec.parts` | list of object | What is built in. |\n"
                              "| `spec.parts[].model` | text | Name on the label. |\n"));
  EXPECT_THAT(text, HasSubstr("| `spec.spare` | object, optional | Absent"));
  EXPECT_THAT(text, HasSubstr("| `spec.labels` | map of text | Free text by key. |\n| `phase` | "
                              "free, held, gone |"));
  EXPECT_THAT(text, HasSubstr("| `grid` | list of list of integer |"));
  EXPECT_THAT(text, HasSubstr("| `by_name.*.slot` | integer |"));
  Thing empty;
  EXPECT_EQ(render_reference("Thing", empty), text);
  EXPECT_EQ(empty, Thing{});
}

TEST(Reference, schema_names_types_enums_and_optionals) {
  Thing scratch;
  const auto schema = JsonValue::parse(render_openapi_schema(scratch));
  ASSERT_TRUE(schema);
  EXPECT_EQ(scratch, Thing{});
  const JsonValue fields = schema->at("properties");
  EXPECT_EQ(schema->at("additionalProperties").as_flag(), false);
  EXPECT_EQ(fields.size(), 10u);
  EXPECT_EQ(fields.at("id").render(), R"({"description":"Unique name.","type":"string"})");
  EXPECT_EQ(fields.at("phase").at("enum").render(), R"(["free","held","gone"])");
  EXPECT_EQ(fields.at("weight").at("type").render(), R"(["integer","null"])");
  EXPECT_EQ(fields.at("since").at("format").as_text(), "date-time");
  EXPECT_EQ(fields.at("grid").at("items").at("items").at("type").as_text(), "integer");
  EXPECT_EQ(fields.at("by_name").at("additionalProperties").at("properties").size(), 2u);
  EXPECT_EQ(fields.at("spec").at("properties").at("spare").at("type").render(),
            R"(["object","null"])");
}

/// A type that holds itself: what is forced must end.
struct Branch {
  std::vector<Branch> under;
  void fields(Fields& f) { f(1, "under", under, "Below this one."); }
};

TEST(Reference, a_type_that_holds_itself_ends) {
  Branch branch;
  const std::string text = render_reference("Branch", branch);
  EXPECT_THAT(text, HasSubstr("| `under[].under` | list of object |"));
  EXPECT_TRUE(branch.under.empty());
  EXPECT_TRUE(JsonValue::parse(render_openapi_schema(branch)));
}

}  // namespace
}  // namespace tundish
