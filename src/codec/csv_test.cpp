// Goal: a sheet as operators keep it is read cell by cell, and row numbers lead back to the file.
#include "codec/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tundish {
namespace {

using Cells = std::vector<std::string>;
using testing::HasSubstr;

CsvTable parsed(std::string_view text) {
  auto table = parse_csv(text);
  EXPECT_TRUE(table) << text;
  return table ? *table : CsvTable{};
}

std::string refusal(std::string_view text) {
  const auto table = parse_csv(text);
  return table ? "taken" : table.error().message();
}

TEST(Csv, every_line_end_and_mark_reads_the_same) {
  for (const auto* text :
       {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4", "a,b\r1,2\r3,4\r",
        "\xef\xbb\xbf"
        "a,b\n1,2\n3,4",
        "a;b\n1;2\n3;4", "a\tb\n1\t2\n3\t4", "\"a\",\"b\"\n\"1\",\"2\"\n\"3\" ,4\n"}) {
    const CsvTable table = parsed(text);
    EXPECT_EQ(table.header, (Cells{"a", "b"})) << text;
    ASSERT_EQ(table.rows.size(), 2u) << text;
    EXPECT_EQ(table.rows[0].cells, (Cells{"1", "2"})) << text;
    EXPECT_EQ(table.rows[0].row, 2) << text;
    EXPECT_EQ(table.rows[1].cells, (Cells{"3", "4"})) << text;
    EXPECT_EQ(table.rows[1].row, 3) << text;
    EXPECT_TRUE(table.notices.empty());
  }
}

TEST(Csv, separator_comes_from_the_header_outside_quotes) {
  EXPECT_EQ(parsed("\"a,b,c\";d\n1;2,3\n").separator, ';');
  EXPECT_EQ(parsed("\"a,b,c\";d\n1;2,3\n").rows[0].cells, (Cells{"1", "2,3"}));
  EXPECT_EQ(parsed("19\" rack;b\n1;2\n").header, (Cells{"19\" rack", "b"}));
  EXPECT_EQ(parsed("n,\"p;\"\n\";;;\",2\n").separator, ',');
  EXPECT_EQ(parsed("a\n1;2\n").separator, ',');
  const CsvTable named = parsed("sep=;\r\na,b\r\n1,5;2\r\n");
  EXPECT_EQ(named.separator, ';');
  EXPECT_EQ(named.header, (Cells{"a,b"}));
  EXPECT_EQ(named.rows[0].row, 3);
}

TEST(Csv, rows_are_counted_as_lines_of_the_file) {
  const CsvTable table =
      parsed("\n\nname,note\n\n\"x\",\"two\r\nlines, \"\"quoted\"\"\"\n , \ny,z\n");
  EXPECT_EQ(table.header_row, 3);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].row, 5);
  EXPECT_EQ(table.rows[0].cells, (Cells{"x", "two\r\nlines, \"quoted\""}));
  EXPECT_EQ(table.rows[1].row, 8);
}

TEST(Csv, rows_fit_the_header) {
  const CsvTable table = parsed("a,b,,\n1\n1,2,,,,\n1,2,3\n");
  EXPECT_EQ(table.header, (Cells{"a", "b"}));
  EXPECT_EQ(table.rows[0].cells, (Cells{"1", ""}));
  EXPECT_EQ(table.rows[1].cells, (Cells{"1", "2"}));
  EXPECT_EQ(table.rows[2].cells, (Cells{"1", "2", "3"}));
  ASSERT_EQ(table.notices.size(), 1u);
  EXPECT_EQ(table.notices[0].row, 4);
  EXPECT_EQ(table.notices[0].column, 3);
}

TEST(Csv, latin1_cells_are_read_and_noted) {
  const CsvTable table = parsed("name,site\nM\xfcller,K\xc3\xb6ln\n");
  EXPECT_EQ(table.rows[0].cells, (Cells{"M\xc3\xbcller", "K\xc3\xb6ln"}));
  ASSERT_EQ(table.notices.size(), 1u);
  EXPECT_EQ(table.notices[0].row, 2);
  EXPECT_EQ(table.notices[0].column, 1);
  EXPECT_THAT(table.notices[0].what, HasSubstr("Latin-1"));
}

TEST(Csv, faults_name_the_row) {
  EXPECT_EQ(refusal("a,b\n1,2\n3,\"4\n5,6\n"), "row 3: the quote opened on line 3 is never closed");
  EXPECT_EQ(refusal("a,b\n\"x\ny\",\"4\n"), "row 2: the quote opened on line 3 is never closed");
  EXPECT_THAT(refusal("a,b\n\"1\"2,3\n"), HasSubstr("row 2: text after a closing quote"));
  EXPECT_THAT(refusal(""), HasSubstr("no heading row"));
  EXPECT_THAT(refusal(",,\n\n"), HasSubstr("no heading row"));
  EXPECT_THAT(refusal("\xff\xfe"
                      "a"),
              HasSubstr("UTF-16"));
  EXPECT_THAT(refusal(std::string_view("a\0b", 3)), HasSubstr("zero bytes"));
}

TEST(Csv, quotes_only_where_needed_and_guards_formulas) {
  EXPECT_EQ(render_csv({"a", "b"}, {{"1", "x,y"}, {"q\"", " s "}, {"-5", "=1+1"}, {"-1.5", "-x"}}),
            "a,b\n1,\"x,y\"\n\"q\"\"\", s \n-5,'=1+1\n-1.5,'-x\n");
}

TEST(Csv, written_and_read_again_nothing_changed) {
  const Cells odd{"=1",  "'=1", "''=1", "'",  "'a",   "-5", "'-5", "-",  "-.5",   "+49 30", "@x",
                  "\tx", "a;b", "a\nb", "\r", "\"\"", "\"", " x ", "üß", "sep=,", "",       "--"};
  const auto back = parsed(render_csv(odd, {odd, odd}));
  Cells header = odd;
  EXPECT_EQ(back.header, header);
  ASSERT_EQ(back.rows.size(), 2u);
  EXPECT_EQ(back.rows[1].cells, odd);
  EXPECT_EQ(parsed(render_csv({"\xef\xbb\xbfx"}, {})).header, (Cells{"\xef\xbb\xbfx"}));
  const auto single = parsed(render_csv({"sep=;"}, {{"a;b"}, {"=x"}}));
  EXPECT_EQ(single.header, (Cells{"sep=;"}));
  EXPECT_EQ(single.rows[0].cells, (Cells{"a;b"}));
  EXPECT_EQ(single.rows[1].cells, (Cells{"=x"}));
}

}  // namespace
}  // namespace tundish
