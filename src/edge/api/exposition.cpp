#include "edge/api/exposition.hpp"

#include <cstdint>

namespace tundish::edge::api {
namespace {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

}  // namespace

void Exposition::head(std::string_view name, std::string_view help, std::string_view type) {
  text_ += "# HELP " + std::string(name) + " " + std::string(help) + "\n# TYPE " +
           std::string(name) + " " + std::string(type) + "\n";
}

void Exposition::value(std::string_view name, std::int64_t value) {
  line(name, {}, std::to_string(value));
}

void Exposition::labelled(std::string_view name, std::string_view label, std::string_view of,
                          std::int64_t value) {
  line(name, {{label, std::string(of)}}, std::to_string(value));
}

void Exposition::labelled(std::string_view name, const Labels& labels, std::int64_t value) {
  line(name, labels, std::to_string(value));
}

void Exposition::seconds(std::string_view name, const Labels& labels, std::int64_t microseconds) {
  std::string fraction = std::to_string(microseconds % 1000000);
  fraction.insert(0, 6 - fraction.size(), '0');
  line(name, labels, std::to_string(microseconds / 1000000) + "." + fraction);
}

void Exposition::single(std::string_view name, std::string_view help, std::int64_t number) {
  head(name, help);
  value(name, number);
}

void Exposition::line(std::string_view name, const Labels& labels, const std::string& value) {
  text_ += name;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text_ += (i == 0 ? "{" : ",") + std::string(labels[i].first) + "=\"" +
             escape(labels[i].second) + "\"";
  }
  text_ += (labels.empty() ? " " : "} ") + value + "\n";
}

}  // namespace tundish::edge::api
