#pragma once
// Server-sent events: the data of each event out of pieces that may be cut anywhere.
// Source: WHATWG HTML, section 9.2.6 "Interpreting an event stream"; checked 2025-01.
#include <string>
#include <string_view>
#include <vector>

namespace tundish::edge::cli {

class EventLines {
 public:
  /// Data of the events that this piece completes.
  std::vector<std::string> take(std::string_view piece);

 private:
  void take_line(std::string_view line, std::vector<std::string>& out);
  std::string partial_;
  std::string data_;
};

}  // namespace tundish::edge::cli
