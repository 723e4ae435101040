#include "codec/table.hpp"

#include <algorithm>

#include "codec/utf8.hpp"

namespace tundish {
namespace {

constexpr std::size_t gap = 3;

struct Cell {
  std::string text;
  std::size_t width = 0;
};

using Line = std::vector<Cell>;

Cell make_cell(const std::string& text) {
  Cell cell;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    at += point.size;
    char32_t value = point.value;
    const bool control = value < 0x20 || (value >= 0x7F && value < 0xA0);
    // Direction overrides can make a name read as another.
    const bool override_direction =
        (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
    if (value == '\n' || value == '\r' || value == '\t') {
      value = ' ';
    } else if (control || override_direction) {
      value = '?';
    }
    append_utf8(cell.text, value);
    cell.width += static_cast<std::size_t>(display_width(value));
  }
  return cell;
}

Line make_line(const std::vector<std::string>& texts) {
  Line line;
  for (const auto& text : texts) line.push_back(make_cell(text));
  return line;
}

}  // namespace

std::string render_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows) {
  std::vector<Line> lines{make_line(header)};
  for (const auto& row : rows) lines.push_back(make_line(row));
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].width);
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += line[i].text;
      text.append(widths[i] - line[i].width + gap, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace tundish
