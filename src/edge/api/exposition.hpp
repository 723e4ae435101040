#pragma once
// Prometheus text. Source: prometheus.io/docs/instrumenting/exposition_formats, text format 0.0.4;
// checked 2026-11
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tundish::edge::api {

class Exposition {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  void head(std::string_view name, std::string_view help, std::string_view type = "gauge");
  void value(std::string_view name, std::int64_t value);
  void labelled(std::string_view name, std::string_view label, std::string_view of,
                std::int64_t value);
  void labelled(std::string_view name, const Labels& labels, std::int64_t value);
  /// Seconds with microseconds.
  void seconds(std::string_view name, const Labels& labels, std::int64_t microseconds);
  void single(std::string_view name, std::string_view help, std::int64_t number);
  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view name, const Labels& labels, const std::string& value);
  std::string text_;
};

}  // namespace tundish::edge::api
