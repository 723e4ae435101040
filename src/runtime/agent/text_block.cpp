#include "runtime/agent/text_block.hpp"

#include <sys/stat.h>

#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

const std::string begin_mark = "# BEGIN tundish ";
const std::string end_mark = "# END tundish ";

/// Lines of the block and its marks are left out. A block without end reaches to the end.
std::string without_block(const std::string& text, const std::string& begin_line,
                          const std::string& end_line) {
  std::string out;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    end = end == std::string::npos ? text.size() : end + 1;
    const std::string line = text.substr(at, end - at);
    if (line.rfind(begin_line, 0) == 0) inside = true;
    if (!inside) out += line;
    if (line.rfind(end_line, 0) == 0) inside = false;
    at = end;
  }
  return out;
}

int mode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<int>(info.st_mode & 07777) : 0644;
}

Result<> write_changed(const std::string& path, const std::string& before,
                       const std::string& after) {
  if (before == after) return {};
  return process::write_file_atomic(path, after, mode_of(path));
}

Result<std::string> read_or_empty(const std::string& path) {
  auto text = process::read_file(path);
  if (!text && text.error().code == Code::not_found) return std::string();
  return text;
}

}  // namespace

std::string replace_block(const std::string& text, const TextBlock& block) {
  const std::string line = block.name + "\n";
  std::string out = without_block(text, begin_mark + line, end_mark + line);
  if (block.content.empty()) return out;
  if (!out.empty() && out.back() != '\n') out += '\n';
  return out + begin_mark + block.name + "\n" + block.content + end_mark + block.name + "\n";
}

bool has_block(const std::string& text) { return text.find(begin_mark) != std::string::npos; }

Result<> write_block(const std::string& path, const TextBlock& block) {
  const std::string before = TRY(read_or_empty(path));
  return write_changed(path, before, replace_block(before, block));
}

Result<> remove_blocks(const std::string& path) {
  const std::string before = TRY(read_or_empty(path));
  return write_changed(path, before, without_block(before, begin_mark, end_mark));
}

}  // namespace tundish::agent
