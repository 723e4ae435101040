#include "control/inventory/cell.hpp"

#include <gtest/gtest.h>

namespace tundish::control::inventory {
namespace {

TEST(Cell, a_mac_is_taken_in_four_notations) {
  for (const char* text :
       {"00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7", "001b.4411.3ab7", "001B44113AB7"}) {
    const auto mac = read_mac(text);
    ASSERT_TRUE(mac.has_value()) << text;
    EXPECT_EQ(*mac, "00:1b:44:11:3a:b7") << text;
  }
}

TEST(Cell, a_damaged_mac_is_refused_with_its_cause) {
  const auto what = [](const char* text) {
    const auto mac = read_mac(text);
    return mac ? std::string("taken as ") + *mac : mac.error().what;
  };
  EXPECT_NE(what("1.1E+11").find("number"), std::string::npos);
  EXPECT_NE(what("1122334455").find("leading zeros"), std::string::npos);
  EXPECT_NE(what("00:1b:44:11:3a:7").find("11 hex digits"), std::string::npos);
  EXPECT_NE(what("00:1b:44:11:3a:b7:00").find("14 hex digits"), std::string::npos);
  EXPECT_NE(what("01:1b:44:11:3a:b7").find("multicast"), std::string::npos);
  EXPECT_NE(what("00:00:00:00:00:00").find("no interface"), std::string::npos);
  EXPECT_NE(what("00:1b-44:11:3a:b7").find("not a MAC"), std::string::npos);
  EXPECT_NE(what("00:1b:44:11:3a:bg").find("not a MAC"), std::string::npos);
}

TEST(Cell, a_guid_is_taken_in_the_notations_of_tools_and_labels) {
  for (const char* text : {"0x0002c90301000101", "0002C90301000101", "0002:c903:0100:0101",
                           "00:02:c9:03:01:00:01:01", "0x0002:C903:0100:0101"}) {
    EXPECT_EQ(read_guid(text).value_or(""), "0x0002c90301000101") << text;
  }
  for (const char* text : {"", "0x0002c9030100010", "0x0002c903010001010", "0x0002c9030100010g",
                           "1.23E+15", "0x0000000000000000", "ffff:ffff:ffff:ffff"}) {
    EXPECT_FALSE(read_guid(text).has_value()) << text;
  }
}

TEST(Cell, damaged_serials_are_refused_and_odd_ones_taken) {
  for (const char* bad : {"1E+10", "1.23E+11", "1,23E+11", "2024-03-01", "01/03/2024", "Mar-24",
                          "24-Mar", "NA", "n/a", "To be filled by O.E.M.", "12345.0", "?"}) {
    EXPECT_FALSE(read_serial(bad).has_value()) << bad;
  }
  for (const char* good : {"1E10", "TND24-00001", "007", "MAR24", "1.2.3.4", "A-B-C", "5E-7"}) {
    EXPECT_TRUE(read_serial(good).has_value()) << good;
  }
}

TEST(Cell, addresses) {
  for (const char* bad : {"10.0.0", "10.0.0.256", "10.0.0.01", "10.0.0.1/24", "127.0.0.1",
                          "224.0.0.1", "0.0.0.0", "ten", "10.0.0.1.2", "10.0.0.9999999999999"}) {
    EXPECT_FALSE(read_ipv4(bad).has_value()) << bad;
  }
  EXPECT_TRUE(read_ipv4("10.88.0.255").has_value());
  for (const char* bad :
       {"10.0.0.256", "10.0.0.1:0", "10.0.0.1:70000", "10.0.0.1/24", ":80", "a b"}) {
    EXPECT_FALSE(read_endpoint(bad).has_value()) << bad;
  }
  for (const char* good : {"10.0.0.1", "10.0.0.1:8000", "bmc-7.example", "bmc7:443"}) {
    EXPECT_TRUE(read_endpoint(good).has_value()) << good;
  }
  EXPECT_TRUE(read_url("http://10.88.2.1:8080").has_value());
  EXPECT_FALSE(read_url("10.88.2.1:8080").has_value());
  for (const char* text : {"ssh://root@10.88.2.1", "ssh://10.88.2.1", "ssh://admin@leaf1:2222"}) {
    EXPECT_EQ(read_url(text).value_or(""), text);
  }
  for (const char* text : {"ssh://", "ssh://root@", "ssh://@10.88.2.1", "ssh://-oX=y@10.88.2.1",
                           "ssh://root@10.88.2.1/x", "telnet://10.88.2.1"}) {
    EXPECT_FALSE(read_url(text).has_value()) << text;
  }
  EXPECT_FALSE(read_url("https://").has_value());
}

TEST(Cell, whole_numbers_and_what_spreadsheets_make_of_them) {
  EXPECT_EQ(read_integer("4.0", {1, 48}).value_or(-1), 4);
  for (const char* bad : {"4.5", "2,000", "-1", "0", "49", "x", "4.", "99999999999999999999"}) {
    EXPECT_FALSE(read_integer(bad, {1, 48}).has_value()) << bad;
  }
}

TEST(Cell, blanks_of_every_kind_are_taken_off) {
  EXPECT_EQ(tidy_cell("\xc2\xa0 n01 \xe2\x80\x8b\xc2\xa0"), "n01");
  EXPECT_EQ(tidy_cell(" \xc2\xa0 "), "");
}

TEST(Cell, the_nearest_word_is_named_only_when_near) {
  EXPECT_EQ(nearest("servcie", {"gpu", "service", "login"}), "service");
  EXPECT_EQ(nearest("r0l", {"r01", "r02"}), "r01");
  EXPECT_EQ(nearest("warehouse", {"gpu", "login"}), "");
}

}  // namespace
}  // namespace tundish::control::inventory
