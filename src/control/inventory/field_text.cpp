#include "control/inventory/field_text.hpp"

namespace tundish::control::inventory {

void FieldText::begin(const FieldInfo& field) {
  if (depth_ == 0) field_ = std::string(field.name);
}

void FieldText::enumerator(int& value, std::span<const std::string_view> names) {
  put(std::string(names[static_cast<std::size_t>(value)]));
}

std::size_t FieldText::begin_list(std::size_t size) {
  ++depth_;
  return size;
}

std::vector<std::string> FieldText::begin_map(std::vector<std::string> keys) {
  ++depth_;
  return keys;
}

void FieldText::put(std::string value) {
  if (depth_ == 0) texts_[field_] = std::move(value);
}

std::map<std::string, std::string> texts_of(const NodeSpec& spec) {
  auto texts = FieldText::of(spec);
  for (const auto& port : spec.ports) {
    for (auto& [field, text] : FieldText::of(port)) {
      if (field != "name") texts["ports." + port.name + "." + field] = text;
    }
  }
  return texts;
}

std::vector<std::string> differences(const std::map<std::string, std::string>& before,
                                     const std::map<std::string, std::string>& after) {
  const auto shown = [](const std::map<std::string, std::string>& texts, const std::string& field) {
    const auto it = texts.find(field);
    return it == texts.end() || it->second.empty() ? std::string("(empty)") : it->second;
  };
  std::vector<std::string> out;
  auto all = before;
  all.insert(after.begin(), after.end());
  for (const auto& [field, text] : all) {
    const std::string old_text = shown(before, field);
    const std::string new_text = shown(after, field);
    if (old_text != new_text) out.push_back(field + ": " + old_text + " -> " + new_text);
  }
  return out;
}

}  // namespace tundish::control::inventory
