#pragma once
// Structured log: a stable event name and fields. Where lines go is set once by the program.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tundish {

enum class LogLevel { debug, info, warn, error };

struct LogField {
  std::string key;
  std::string value;
  LogField(std::string k, std::string v) : key(std::move(k)), value(std::move(v)) {}
  LogField(std::string k, const char* v) : key(std::move(k)), value(v) {}
  LogField(std::string k, std::string_view v) : key(std::move(k)), value(v) {}
  LogField(std::string k, long long v) : key(std::move(k)), value(std::to_string(v)) {}
  LogField(std::string k, long v) : key(std::move(k)), value(std::to_string(v)) {}
  LogField(std::string k, int v) : key(std::move(k)), value(std::to_string(v)) {}
  LogField(std::string k, unsigned long v) : key(std::move(k)), value(std::to_string(v)) {}
};

using LogSink = void (*)(LogLevel, std::string_view event, const std::vector<LogField>& fields);

/// Replaces the sink of this process (default: one logfmt line on standard error).
void set_log_sink(LogSink sink);
void log(LogLevel level, std::string_view event, std::vector<LogField> fields = {});

}  // namespace tundish
