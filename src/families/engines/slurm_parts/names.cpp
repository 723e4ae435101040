#include "families/engines/slurm_parts/names.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.hpp"

namespace tundish::slurm_parts {
namespace {

constexpr std::string_view our_prefix = "tundish:";
constexpr std::size_t reason_limit = 200;
/// Digits that still fit any integer we compute with.
constexpr std::size_t digits_limit = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= digits_limit &&
         std::all_of(text.begin(), text.end(), is_digit);
}

std::string pad(std::int64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

Error bad_list(std::string_view text) {
  return make_error(Code::corrupt, "bad host list " + std::string(text.substr(0, 80)));
}

/// What stands between brackets: "01-04,07" as texts.
Result<std::vector<std::string>> expand_ranges(std::string_view inner) {
  std::vector<std::string> out;
  for (const std::string& part : split(inner, ',')) {
    const auto dash = part.find('-');
    const std::string first = part.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : part.substr(dash + 1);
    if (!is_number(first) || !is_number(last)) return bad_list(inner);
    const std::int64_t low = *parse_integer(first);
    const std::int64_t high = *parse_integer(last);
    if (high < low || high - low >= static_cast<std::int64_t>(hostlist_limit)) {
      return bad_list(inner);
    }
    for (std::int64_t i = low; i <= high; ++i) out.push_back(pad(i, first.size()));
    if (out.size() > hostlist_limit) return bad_list(inner);
  }
  return out;
}

/// One entry without a comma outside brackets: "r[1-2]n[01-02]".
Result<> expand_entry(std::string_view entry, std::vector<std::string>& names) {
  std::vector<std::string> heads{""};
  while (!entry.empty()) {
    const auto open = entry.find('[');
    const std::string_view plain = entry.substr(0, open);
    if (plain.find(']') != std::string_view::npos) return bad_list(entry);
    for (auto& head : heads) head += plain;
    if (open == std::string_view::npos) break;
    const auto close = entry.find(']', open);
    if (close == std::string_view::npos) return bad_list(entry);
    const auto ranges = TRY(expand_ranges(entry.substr(open + 1, close - open - 1)));
    if (heads.size() * ranges.size() > hostlist_limit) return bad_list(entry);
    std::vector<std::string> longer;
    for (const auto& head : heads) {
      for (const auto& range : ranges) longer.push_back(head + range);
    }
    heads = std::move(longer);
    entry.remove_prefix(close + 1);
  }
  if (names.size() + heads.size() > hostlist_limit) return bad_list("of too many names");
  names.insert(names.end(), heads.begin(), heads.end());
  return {};
}

std::size_t end_of_entry(std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
    if (text[i] == ',' && !inside) return i;
  }
  return text.size();
}

/// Names that differ in the number at their end only.
struct Group {
  std::string prefix;
  std::size_t width;
  auto operator<=>(const Group&) const = default;
};

std::string fold_numbers(const std::vector<std::int64_t>& numbers, std::size_t width) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    std::string part = pad(numbers[i], width);
    if (j > i) part += "-" + pad(numbers[j], width);
    parts.push_back(std::move(part));
    i = j + 1;
  }
  return join(parts, ",");
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text) {
  std::vector<std::string> names;
  text = trim(text);
  if (text == "(null)" || text == "None assigned") return names;
  while (!text.empty()) {
    const std::size_t end = end_of_entry(text);
    if (end > 0) TRY_VOID(expand_entry(text.substr(0, end), names));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

std::string fold_hostlist(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::map<Group, std::vector<std::int64_t>> groups;
  std::vector<std::string> parts;
  for (const auto& name : names) {
    std::size_t start = name.size();
    while (start > 0 && is_digit(name[start - 1])) --start;
    const std::string digits = name.substr(start);
    if (start == 0 || !is_number(digits)) {
      parts.push_back(name);
    } else {
      groups[{name.substr(0, start), digits.size()}].push_back(*parse_integer(digits));
    }
  }
  for (const auto& [group, numbers] : groups) {
    const std::string folded = fold_numbers(numbers, group.width);
    parts.push_back(numbers.size() == 1 ? group.prefix + folded
                                        : group.prefix + "[" + folded + "]");
  }
  std::sort(parts.begin(), parts.end());
  return join(parts, ",");
}

std::string clean_reason(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view(" _.,:;/()+@%-").find(c) != std::string_view::npos;
    if (c == ' ' && (clean.empty() || clean.back() == ' ')) continue;
    clean += plain ? c : '_';
  }
  if (!is_our_reason(clean)) clean = "tundish: " + clean;
  clean.resize(std::min(clean.size(), reason_limit));
  return std::string(trim(clean));
}

bool is_our_reason(std::string_view reason) { return reason.starts_with(our_prefix); }

bool is_slurm_reason(std::string_view reason) {
  if (reason.starts_with(slurm_prefix)) return true;
  // Set by slurmd under root's name. Source: slurm 22.05 src/slurmd, src/slurmctld/job_mgr.c;
  // checked 2026-11.
  for (const std::string_view words : {"Not responding", "Node unexpectedly rebooted",
                                       "Kill task failed", "Prolog error", "Epilog error"}) {
    if (reason.starts_with(words)) return true;
  }
  return false;
}

bool is_reboot_reason(std::string_view reason) {
  if (reason.starts_with(slurm_prefix)) reason.remove_prefix(slurm_prefix.size());
  return reason.starts_with("Node unexpectedly rebooted");
}

}  // namespace tundish::slurm_parts
