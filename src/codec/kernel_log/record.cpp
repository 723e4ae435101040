#include "codec/kernel_log/record.hpp"

#include <vector>

#include "base/text.hpp"

namespace tundish {
namespace {

Error broken(std::string why) {
  return make_error(Code::corrupt, "kernel log record " + std::move(why));
}

Result<std::int64_t> counter(std::string_view text, std::string_view name) {
  const auto value = parse_integer(text);
  if (!value || *value < 0) return broken("has no number as " + std::string(name));
  return *value;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<> read_keys(std::string_view lines, std::map<std::string, std::string>& keys) {
  for (const std::string& line : split(lines, '\n')) {
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    if (line.front() != ' ' || equals == std::string::npos || equals == 1) {
      return broken("has a line after the text that is no KEY=value");
    }
    keys[line.substr(1, equals - 1)] =
        unescape_kernel_text(std::string_view(line).substr(equals + 1));
  }
  return {};
}

}  // namespace

std::string unescape_kernel_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
      const int high = hex_digit(text[i + 2]);
      const int low = hex_digit(text[i + 3]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 3;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

std::string escape_kernel_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '\\') {
      out += c;
    } else {
      out += "\\x" + render_hex(std::string_view(&c, 1));
    }
  }
  return out;
}

Result<KernelRecord> parse_kernel_record(std::string_view bytes) {
  const std::size_t line_end = bytes.find('\n');
  const std::string_view head = bytes.substr(0, line_end);
  const std::size_t semicolon = head.find(';');
  if (semicolon == std::string_view::npos) return broken("has no ; before its text");
  const std::vector<std::string> parts = split(head.substr(0, semicolon), ',');
  if (parts.size() < 4) return broken("has fewer than four header fields");
  const std::int64_t prio = TRY(counter(parts[0], "priority"));
  if (prio >> 3 > 0xffff) return broken("has a priority out of range");
  KernelRecord record;
  record.level = static_cast<int>(prio & 7);
  record.facility = static_cast<int>(prio >> 3);
  record.seq = TRY(counter(parts[1], "sequence"));
  record.usec = TRY(counter(parts[2], "time"));
  record.text = unescape_kernel_text(head.substr(semicolon + 1));
  if (line_end != std::string_view::npos) {
    TRY_VOID(read_keys(bytes.substr(line_end + 1), record.keys));
  }
  return record;
}

}  // namespace tundish
