#include "edge/cli/output.hpp"

#include <cstdio>
#include <ctime>

#include "base/text.hpp"
#include "codec/columns.hpp"
#include "codec/instant_text.hpp"

namespace tundish::edge::cli {
namespace {

std::string format_local(Instant at, const char* format) {
  const std::time_t whole = static_cast<std::time_t>(at.us / 1000000);
  std::tm parts{};
  localtime_r(&whole, &parts);
  char text[32];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

/// A text that is exactly a stored Instant; others stay as they are.
std::string localize(const std::string& text) {
  const bool alike = text.size() >= 20 && text[4] == '-' && text[10] == 'T' && text.back() == 'Z';
  const auto at = alike ? parse_instant(text) : std::nullopt;
  return at ? render_local(*at) : text;
}

}  // namespace

std::string indent_json(const std::string& body) {
  const auto value = JsonValue::parse(body);
  return (value ? value->render(2) : body) + "\n";
}

std::string render_json_array(const std::vector<std::string>& items) {
  return indent_json("[" + join(items, ",") + "]");
}

std::string render_yaml_item(AnyDescribed object) {
  std::string out;
  for (const auto& line : split(render_yaml(object), '\n')) {
    if (line.empty()) continue;
    out += (out.empty() ? "- " : "  ") + line + "\n";
  }
  return out;
}

std::string render_detail(AnyDescribed object) {
  std::vector<Cells> rows;
  for (const auto& [path, value] : flatten(object)) {
    if (!value.empty()) rows.push_back({path, localize(value)});
  }
  return render_table({"FIELD", "VALUE"}, rows);
}

std::string render_local(Instant at) {
  return at.is_set() ? format_local(at, "%Y-%m-%d %H:%M:%S") : "-";
}

std::string render_local_clock(Instant at) {
  if (!at.is_set()) return "-";
  char text[48];
  std::snprintf(text, sizeof text, "%s.%03d", format_local(at, "%H:%M:%S").c_str(),
                static_cast<int>(at.us / 1000 % 1000));
  return text;
}

std::string with_local_times(const std::string& text) {
  constexpr std::size_t date_size = 10;  // "2026-01-31", then T
  std::string out;
  std::size_t from = 0;
  for (auto mark = text.find('T'); mark != std::string::npos; mark = text.find('T', mark + 1)) {
    const std::size_t begin = mark - date_size;
    const auto end = text.find('Z', mark);
    if (mark < from + date_size || end == std::string::npos || end - mark > 16) continue;
    const auto at = parse_instant(std::string_view(text).substr(begin, end + 1 - begin));
    if (!at) continue;
    out += text.substr(from, begin - from) + render_local(*at);
    from = end + 1;
  }
  return out + text.substr(from);
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

}  // namespace tundish::edge::cli
