#include "control/inventory/cell.hpp"

#include <algorithm>
#include <array>

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace tundish::control::inventory {
namespace {

constexpr std::size_t name_size_max = 63;  // a DNS label, and what engines take

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}
bool all_hex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_hex);
}

Error refuse(std::string what, std::string remedy) {
  return make_error(Code::invalid, std::move(what)).with_remedy(std::move(remedy));
}

Error as_text(std::string what) {
  return refuse(std::move(what), "format the column as text, then type the value again");
}

/// 1E+10, 1.23E+11: what a spreadsheet shows of a long number.
bool is_scientific(std::string_view text) {
  const auto e = text.find_first_of("eE");
  if (e == text.npos || e + 2 >= text.size() || text[e + 1] != '+') return false;
  const auto mantissa = text.substr(0, e);
  return all_digits(text.substr(e + 2)) && !mantissa.empty() &&
         std::all_of(mantissa.begin(), mantissa.end(),
                     [](char c) { return is_digit(c) || c == '.' || c == ','; });
}

bool is_month(std::string_view text) {
  static constexpr std::array<std::string_view, 12> months = {
      "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
  return std::find(months.begin(), months.end(), to_lower(text)) != months.end();
}

/// 2024-03-01, 01/03/2024, 1.3.24, Mar-24, 24-Mar.
bool is_date(std::string_view text) {
  for (const char separator : {'-', '/', '.'}) {
    const auto parts = split(text, separator);
    if (parts.size() == 2) {
      const auto pair = [&](std::size_t month, std::size_t number) {
        return is_month(parts[month]) && all_digits(parts[number]) && parts[number].size() <= 4;
      };
      if (pair(0, 1) || pair(1, 0)) return true;
    }
    if (parts.size() != 3) continue;
    const bool numbers = std::all_of(parts.begin(), parts.end(), all_digits);
    const bool year_first = parts[0].size() == 4 && parts[1].size() <= 2 && parts[2].size() <= 2;
    const bool year_last = parts[0].size() <= 2 && parts[1].size() <= 2 &&
                           (parts[2].size() == 4 || parts[2].size() == 2);
    if (numbers && (year_first || year_last)) return true;
  }
  return false;
}

/// What firmware and people write where no serial is known.
/// Source: facts/cloud.md section 5, rows "Identity" and "Spreadsheet import".
bool is_placeholder(std::string_view text) {
  static constexpr std::array<std::string_view, 16> words = {"na",
                                                             "n/a",
                                                             "none",
                                                             "null",
                                                             "nil",
                                                             "tbd",
                                                             "unknown",
                                                             "-",
                                                             "?",
                                                             "0",
                                                             "xxx",
                                                             "not specified",
                                                             "to be filled by o.e.m.",
                                                             "default string",
                                                             "system serial number",
                                                             "see sticker"};
  return std::find(words.begin(), words.end(), to_lower(text)) != words.end();
}

std::string drop_separators(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ':' && c != '-' && c != '.' && c != ' ') out += c;
  }
  return out;
}

/// Whether the separators stand where a notation has them.
bool has_mac_shape(std::string_view text) {
  if (text.size() == 12) return all_hex(text);
  const auto grouped = [&](char separator, std::size_t groups, std::size_t size) {
    const auto parts = split(text, separator);
    return parts.size() == groups && std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
             return part.size() == size && all_hex(part);
           });
  };
  return grouped(':', 6, 2) || grouped('-', 6, 2) || grouped('.', 3, 4);
}

Error explain_mac(std::string_view text) {
  const std::string bare = drop_separators(text);
  if (is_scientific(text)) return as_text("a spreadsheet turned the MAC into a number");
  if (all_hex(text) && text.size() < 12) {
    return as_text("the MAC has " + std::to_string(text.size()) +
                   " hex digits of 12: leading zeros were lost");
  }
  if (all_hex(bare) && bare.size() < 12) {
    return refuse("the MAC has " + std::to_string(bare.size()) + " hex digits of 12",
                  "write every pair with two digits, for example 00:1b:44:11:3a:b7");
  }
  if (all_hex(bare) && bare.size() > 12) {
    return refuse("the MAC has " + std::to_string(bare.size()) + " hex digits, 12 are right",
                  "write one MAC per cell; an InfiniBand GUID is not a MAC");
  }
  return refuse("not a MAC address", "write it like 00:1b:44:11:3a:b7");
}

Result<std::string> read_with(std::string_view text, std::string_view extra) {
  if (text.size() > name_size_max) {
    return refuse("the name has " + std::to_string(text.size()) + " characters, 63 are the most",
                  "choose a shorter name");
  }
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || extra.find(c) != extra.npos) continue;
    return refuse("the name has a character beside letters, digits and " + std::string(extra),
                  "choose another name");
  }
  if (!text.empty() && !is_letter(text[0]) && !is_digit(text[0])) {
    return refuse("the name does not begin with a letter or digit", "choose another name");
  }
  return std::string(text);
}

Result<> refuse_special_ipv4(const std::array<std::int64_t, 4>& parts) {
  if (parts[0] == 0 || parts[0] == 127 || parts[0] >= 224) {
    return refuse("the address names no interface (this network, loopback, multicast or broadcast)",
                  "write the address of the interface");
  }
  return {};
}

}  // namespace

std::string tidy_cell(std::string_view text) {
  static constexpr std::array<std::string_view, 4> blanks = {"\xc2\xa0", "\xe2\x80\x8b",
                                                             "\xef\xbb\xbf", "\xe2\x80\xaf"};
  bool again = true;
  while (again) {
    again = false;
    text = trim(text);
    for (const auto blank : blanks) {
      if (text.starts_with(blank)) text.remove_prefix(blank.size()), again = true;
      if (text.ends_with(blank)) text.remove_suffix(blank.size()), again = true;
    }
  }
  return std::string(text);
}

Result<> refuse_error_mark(std::string_view text) {
  static constexpr std::array<std::string_view, 8> marks = {
      "#REF!", "#VALUE!", "#NAME?", "#N/A", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!"};
  if (std::find(marks.begin(), marks.end(), text) == marks.end() &&
      text.find_first_not_of('#') != text.npos) {
    return {};
  }
  if (text.empty()) return {};
  return refuse("the spreadsheet wrote an error in place of the value",
                "repair the formula or widen the column, then export again");
}

Result<std::string> read_mac(std::string_view text) {
  if (!has_mac_shape(text)) return explain_mac(text);
  const std::string bare = to_lower(drop_separators(text));
  if (bare == "000000000000" || bare == "ffffffffffff") {
    return refuse("the MAC is no interface's address", "read it from the label or the BMC");
  }
  if (parse_integer(bare.substr(0, 2), 16).value_or(1) % 2 != 0) {
    return refuse("the MAC is a multicast address", "check the first pair: it must be even");
  }
  std::string out;
  for (std::size_t i = 0; i < bare.size(); i += 2) {
    if (i > 0) out += ':';
    out += bare.substr(i, 2);
  }
  return out;
}

Result<std::string> read_ipv4(std::string_view text) {
  const std::string remedy = "write it like 10.0.0.17";
  if (text.find('/') != text.npos) {
    return refuse("the address has a prefix length", "write the address alone");
  }
  const auto parts = split(text, '.');
  if (parts.size() != 4) return refuse("not an IPv4 address", remedy);
  std::array<std::int64_t, 4> numbers{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& part = parts[i];
    if (!all_digits(part)) return refuse("not an IPv4 address", remedy);
    if (part.size() > 1 && part[0] == '0') {
      return refuse("part " + part + " of the IPv4 address begins with 0", remedy);
    }
    numbers[i] = part.size() > 3 ? 256 : parse_integer(part).value_or(256);
    if (numbers[i] > 255) {
      return refuse("part " + part + " of the IPv4 address is above 255", remedy);
    }
  }
  TRY_VOID(refuse_special_ipv4(numbers));
  return std::string(text);
}

Result<std::string> read_endpoint(std::string_view text) {
  std::string_view name = text;
  if (const auto colon = text.find(':'); colon != text.npos) {
    TRY(read_integer(text.substr(colon + 1), {1, 65535}));
    name = text.substr(0, colon);
  }
  const bool numeric = std::all_of(name.begin(), name.end(),
                                   [](char c) { return is_digit(c) || c == '.' || c == '/'; });
  if (numeric) {
    TRY(read_ipv4(name));
  } else {
    TRY(read_name(name));
  }
  return std::string(text);
}

Result<std::string> read_guid(std::string_view text) {
  if (is_scientific(text)) return as_text("a spreadsheet turned the GUID into a number");
  const std::string remedy = "write it like 0x0002c90301000101, as ibstat shows it (Port GUID)";
  std::string bare = to_lower(text.starts_with("0x") ? text.substr(2) : text);
  std::erase_if(bare, [](char c) { return c == ':' || c == '-' || c == '.'; });
  if (bare.size() != 16 || !all_hex(bare)) return refuse("not a GUID of 16 hex digits", remedy);
  if (bare.find_first_not_of(bare[0]) == bare.npos && (bare[0] == '0' || bare[0] == 'f')) {
    return refuse("the GUID is no port's", remedy);
  }
  return "0x" + bare;
}

Result<std::string> read_url(std::string_view text) {
  if (text.starts_with("ssh://")) {
    const auto rest = text.substr(6);
    const auto at = rest.find('@');
    if (at != rest.npos) {
      const auto user = rest.substr(0, at);
      if (user.empty())
        return refuse("the URL names no user", "write it like ssh://root@10.0.0.17");
      TRY(read_name(user));
    }
    TRY(read_endpoint(at == rest.npos ? rest : rest.substr(at + 1)));
    return std::string(text);
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    auto rest = text.substr(scheme.size());
    rest = rest.substr(0, rest.find('/'));
    if (rest.empty()) break;
    TRY(read_endpoint(rest));
    return TRY(read_words(text));
  }
  return refuse("not an http, https or ssh URL",
                "write it like https://10.0.0.17 or ssh://root@10.0.0.17");
}

Result<std::string> read_serial(std::string_view text) {
  if (is_scientific(text)) return as_text("a spreadsheet turned the serial into a number");
  if (is_date(text)) return as_text("a spreadsheet turned the serial into a date");
  if (is_placeholder(text)) {
    return refuse("the serial is a placeholder, not a serial", "leave the cell empty until known");
  }
  if (text.ends_with(".0") && all_digits(text.substr(0, text.size() - 2))) {
    return as_text("a program turned the serial into a decimal number");
  }
  return read_words(text);
}

Result<std::string> read_name(std::string_view text) { return read_with(text, "-_."); }

Result<std::string> read_interface_name(std::string_view text) { return read_with(text, "-_./:"); }

Result<std::string> read_words(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) continue;
    return refuse("the cell has a line end or another control character",
                  "keep one value per cell");
  }
  return std::string(text);
}

Result<std::int64_t> read_integer(std::string_view text, const IntegerRange& range) {
  std::string_view whole = text;
  if (const auto point = text.find('.'); point != text.npos) {
    const auto fraction = text.substr(point + 1);
    if (!fraction.empty() && fraction.find_first_not_of('0') == fraction.npos) {
      whole = text.substr(0, point);
    }
  }
  const auto value = all_digits(whole) ? parse_integer(whole) : std::nullopt;
  const std::string bounds = std::to_string(range.least) + " to " + std::to_string(range.most);
  if (!value) return refuse("not a whole number", "write a number from " + bounds);
  if (*value < range.least || *value > range.most) {
    return refuse("the number is not within " + bounds, "correct the number");
  }
  return *value;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  return tundish::nearest(word, candidates);
}

}  // namespace tundish::control::inventory
