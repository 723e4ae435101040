#pragma once
// What a cell means, and what spreadsheet programs do to cells. Errors carry what and remedy.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tundish::control::inventory {

/// Without blanks around it, also the non-breaking and zero-width ones that spreadsheets leave.
std::string tidy_cell(std::string_view text);

/// invalid when a spreadsheet program left an error mark (#REF!, #N/A ...) in the cell.
Result<> refuse_error_mark(std::string_view text);

/// The four notations 00:1b:44:11:3a:b7, 00-1B-44-11-3A-B7, 001b.4411.3ab7 and 001B44113AB7 to the
/// first one, lower case.
Result<std::string> read_mac(std::string_view text);
Result<std::string> read_ipv4(std::string_view text);
/// IPv4 address or DNS name, with an optional port.
Result<std::string> read_endpoint(std::string_view text);
/// http, https or ssh; the latter with a user: ssh://root@10.0.0.17.
Result<std::string> read_url(std::string_view text);
/// GUID of an InfiniBand port in the notations 0x0002c90301000101, 0002c90301000101 and
/// 0002:c903:0100:0101 to the first one, lower case.
Result<std::string> read_guid(std::string_view text);
Result<std::string> read_serial(std::string_view text);
/// Letters, digits, - _ and ., beginning with a letter or digit, at most 63.
Result<std::string> read_name(std::string_view text);
/// As read_name, with the / and : of interface names such as Ethernet1/1.
Result<std::string> read_interface_name(std::string_view text);
/// Any text without control characters.
Result<std::string> read_words(std::string_view text);

struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
/// Takes the "4.0" that NetBox and spreadsheets write for 4.
Result<std::int64_t> read_integer(std::string_view text, const IntegerRange& range);

/// The candidate that is most like the word; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tundish::control::inventory
