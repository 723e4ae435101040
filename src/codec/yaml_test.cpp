// Goal: a file that people write is taken as they mean it, or refused with file, line and column.
#include "codec/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/sample_test.hpp"

namespace tundish {
namespace {

using sample::full_thing;
using sample::Thing;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(std::string_view text) {
  Thing thing = full_thing();
  const auto result = parse_yaml(text, thing, "f.yaml");
  EXPECT_EQ(thing, full_thing()) << text;
  if (result) return "taken";
  EXPECT_EQ(result.error().code, Code::invalid);
  return result.error().message();
}

TEST(Yaml, round_trip_is_exact) {
  Thing back;
  Thing thing = full_thing();
  const std::string text = render_yaml(thing);
  ASSERT_TRUE(parse_yaml(text, back, "f")) << text;
  EXPECT_EQ(back, full_thing()) << text;
}

TEST(Yaml, texts_that_look_like_something_else_are_quoted) {
  for (const auto* text :
       {"true", "No",         "null", "~",         "",          "12", "1e3", "- a", "a: b", "a #b",
        " a",   "2026-11-30", "y",    "tab\there", "line\nend", "\"", "'",   "*a",  "ü",    "@"}) {
    sample::Part part{text, 1};
    sample::Part back;
    const std::string yaml = render_yaml(part);
    ASSERT_TRUE(parse_yaml(yaml, back, "f")) << yaml;
    EXPECT_EQ(back, part) << yaml;
    EXPECT_THAT(yaml, StartsWith("model: \"")) << text;
  }
  sample::Part plain{"gpu-h200.a/b", 1};
  EXPECT_EQ(render_yaml(plain), "model: gpu-h200.a/b\nslot: 1\n");
}

TEST(Yaml, the_field_decides_what_an_unquoted_scalar_is) {
  Thing thing;
  ASSERT_TRUE(
      parse_yaml("id: 010\nspec: {rack: no, labels: {on: 1.50}}\nready: true\n"
                 "count: -12\nweight: ~\nsince: 2026-11-30T08:00:00Z\nphase: held\n",
                 thing, "f"));
  EXPECT_EQ(thing.id, "010");
  EXPECT_EQ(thing.spec.rack, "no");
  EXPECT_EQ(thing.spec.labels.at("on"), "1.50");
  EXPECT_TRUE(thing.ready);
  EXPECT_EQ(thing.count, -12);
  EXPECT_EQ(thing.weight, std::nullopt);
  EXPECT_EQ(thing.since, Instant{1796025600000000});
  EXPECT_EQ(thing.phase, sample::Phase::held);
}

TEST(Yaml, errors_name_file_line_and_column) {
  EXPECT_EQ(refusal("id: a\nspec:\n  rakc: r\n"),
            "f.yaml:3:3: spec.rakc: unknown field (did you mean \"rack\"?)");
  EXPECT_EQ(refusal("spec:\n  parts:\n    - model: a\n    - slot: x\n"),
            "f.yaml:4:7: spec.parts[1].slot: expected an integer of 64 bits, found text x");
  EXPECT_EQ(refusal("id: a\nid: b\n"), "f.yaml:2:1: field \"id\" is given twice");
  EXPECT_EQ(refusal("count: 010\n"),
            "f.yaml:1:1: count: expected an integer of 64 bits, found text 010");
  EXPECT_EQ(refusal("count: \"10\"\n"),
            "f.yaml:1:1: count: expected an integer of 64 bits, found text 10");
  EXPECT_THAT(refusal("count: 2 min\n"), HasSubstr("found text 2 min (write digits only"));
  EXPECT_THAT(refusal("ready: yes\n"), StartsWith("f.yaml:1:1: ready: expected true or false"));
  EXPECT_THAT(refusal("- a\n"), StartsWith("f.yaml:1:1: the document: expected an object"));
  EXPECT_THAT(refusal("id: [a\n"), StartsWith("f.yaml:"));
  EXPECT_THAT(refusal("a: b: c\n"), StartsWith("f.yaml:1:"));
  EXPECT_EQ(refusal("id: a\nb: \xff\n"), "f.yaml:2:4: not UTF-8 (save the file as UTF-8)");
}

TEST(Yaml, what_could_surprise_is_refused) {
  EXPECT_THAT(refusal("spec: &s {rack: r}\nid: *s\n"), HasSubstr("aliases"));
  EXPECT_THAT(refusal("id: !!int 5\n"), HasSubstr("tag"));
  EXPECT_THAT(refusal("id: a\n---\nid: b\n"), HasSubstr("second document"));
  EXPECT_THAT(refusal("? [a]\n: b\n"), HasSubstr("key must be a text"));
  EXPECT_THAT(refusal("~: b\n"), HasSubstr("key is missing"));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("id: " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("deeper than 64"));
  EXPECT_THAT(refusal(std::string("id: a\0b", 7)), HasSubstr("f.yaml:1:6: a zero byte"));
}

}  // namespace
}  // namespace tundish
