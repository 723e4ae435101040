#pragma once
// The three forms in which a command answers. JSON is the API's object as it came; tables are for
// people: local times, names, no raw ids where a name is known.
#include <functional>
#include <string>
#include <vector>

#include "codec/json.hpp"
#include "codec/table.hpp"
#include "codec/yaml.hpp"
#include "edge/cli/client.hpp"

namespace tundish::edge::cli {

enum class OutputForm { table, json, yaml };

using Cells = std::vector<std::string>;

/// How a list of one kind looks as a table.
template <class T>
struct Listing {
  Cells header;
  std::function<Cells(const T&)> row;
};

std::string indent_json(const std::string& body);
std::string render_json_array(const std::vector<std::string>& items);
/// One "- " item of a YAML list.
std::string render_yaml_item(AnyDescribed object);
/// "path  value" lines, with local times.
std::string render_detail(AnyDescribed object);

template <Described T>
std::string render_items(OutputForm form, const std::vector<std::string>& items,
                         const std::vector<T>& objects, const Listing<T>& listing) {
  if (form == OutputForm::json) return render_json_array(items);
  std::string out;
  std::vector<Cells> rows;
  for (const T& object : objects) {
    if (form == OutputForm::yaml) out += render_yaml_item(describe_const(object));
    rows.push_back(listing.row(object));
  }
  if (form == OutputForm::yaml) return out.empty() ? "[]\n" : out;
  return render_table(listing.header, rows);
}

/// "2026-01-31 13:05:09" in the time zone of the reader; "-" when not set.
std::string render_local(Instant at);
/// Time of day only, with milliseconds, for timelines of a single day.
std::string render_local_clock(Instant at);
/// Every UTC time within a text, as render_utc writes it, in the time zone of the reader.
std::string with_local_times(const std::string& text);
/// "-" for nothing.
std::string or_dash(const std::string& text);

template <class E>
requires std::is_enum_v<E> std::string word(E value) {
  const auto names = enum_names(E{});
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? std::string(names[index]) : "?";
}

}  // namespace tundish::edge::cli
