#include "edge/cli/event_lines.hpp"

namespace tundish::edge::cli {

std::vector<std::string> EventLines::take(std::string_view piece) {
  std::vector<std::string> out;
  partial_ += piece;
  std::size_t start = 0;
  for (std::size_t end; (end = partial_.find('\n', start)) != std::string::npos; start = end + 1) {
    take_line(std::string_view(partial_).substr(start, end - start), out);
  }
  partial_.erase(0, start);
  return out;
}

void EventLines::take_line(std::string_view line, std::vector<std::string>& out) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty()) {
    if (!data_.empty()) out.push_back(std::move(data_));
    data_.clear();
    return;
  }
  if (line.substr(0, 5) != "data:") return;  // comments, ids, event names
  line.remove_prefix(5);
  if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  if (!data_.empty()) data_ += '\n';
  data_ += line;
}

}  // namespace tundish::edge::cli
