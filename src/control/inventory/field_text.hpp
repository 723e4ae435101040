#pragma once
// Described structs as flat text, to compare them and to show what differs.
#include <map>
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "model/node.hpp"

namespace tundish::control::inventory {

/// Fields of plain types by name; lists and structs within are left out.
class FieldText final : public Sink {
 public:
  template <class T>
  static std::map<std::string, std::string> of(T value) {
    FieldText sink;
    Fields fields(sink);
    value.fields(fields);
    return std::move(sink.texts_);
  }

  void begin(const FieldInfo& field) override;
  void end() override {}
  void text(std::string& value) override { put(value); }
  void integer(std::int64_t& value) override { put(std::to_string(value)); }
  void flag(bool& value) override { put(value ? "true" : "false"); }
  void instant(Instant& value) override { put(std::to_string(value.us)); }
  void enumerator(int& value, std::span<const std::string_view> names) override;
  bool present(bool has) override { return has; }
  std::size_t begin_list(std::size_t size) override;
  void item(std::size_t) override {}
  void end_list() override { --depth_; }
  std::vector<std::string> begin_map(std::vector<std::string> keys) override;
  void key(const std::string&) override {}
  void end_map() override { --depth_; }
  void begin_struct() override { ++depth_; }
  void end_struct() override { --depth_; }

 private:
  void put(std::string value);

  std::map<std::string, std::string> texts_;
  std::string field_;
  int depth_ = 0;
};

/// Also the ports of a node, as ports.eth0.mac.
std::map<std::string, std::string> texts_of(const NodeSpec& spec);

/// "field: before -> after" for each field that differs.
std::vector<std::string> differences(const std::map<std::string, std::string>& before,
                                     const std::map<std::string, std::string>& after);

}  // namespace tundish::control::inventory
