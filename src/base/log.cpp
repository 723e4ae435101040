#include "base/log.hpp"

#include <atomic>
#include <cstdio>
#include <ctime>

namespace tundish {
namespace {

std::string in_quotes(const std::string& value) {
  if (!value.empty() && value.find_first_of(" \"=\n") == std::string::npos) return value;
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void to_standard_error(LogLevel level, std::string_view event,
                       const std::vector<LogField>& fields) {
  static constexpr const char* names[] = {"debug", "info", "warn", "error"};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &parts);
  char head[64];
  std::snprintf(head, sizeof head, "%s.%03ldZ %s ", stamp, now.tv_nsec / 1000000,
                names[static_cast<int>(level)]);
  std::string line = head;
  line += event;
  for (const auto& field : fields) line += " " + field.key + "=" + in_quotes(field.value);
  line += "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::atomic<LogSink> current_sink{to_standard_error};

}  // namespace

void set_log_sink(LogSink sink) { current_sink = sink; }

void log(LogLevel level, std::string_view event, std::vector<LogField> fields) {
  current_sink.load()(level, event, fields);
}

}  // namespace tundish
