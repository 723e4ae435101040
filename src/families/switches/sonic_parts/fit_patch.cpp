#include <nlohmann/json.hpp>

#include "codec/json.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"

namespace tundish::switches::sonic_parts {
namespace {

using Json = nlohmann::json;

/// The depth is bounded by the first reading.
Result<> read(std::string_view text, Json::value_t kind, const char* what, Json& out) {
  static_cast<void>(TRY(JsonValue::parse(text)));
  out = Json::parse(text, nullptr, false);
  if (out.type() == kind) return {};
  return make_error(Code::corrupt, std::string(what) + " is not of the right form");
}

Result<> run_patch(Json& config, const Json& patch) {
  try {
    config = config.patch(patch);
  } catch (const Json::exception& fault) {
    return make_error(Code::conflict, std::string("the patch does not fit: ") + fault.what());
  }
  return {};
}

/// Table of a path, and whether the path names a row of it.
std::pair<std::string, bool> table_of(const std::string& path) {
  const std::size_t second = path.find('/', 1);
  if (path.empty() || second == std::string::npos)
    return {path.empty() ? "" : path.substr(1), false};
  return {path.substr(1, second - 1), path.find('/', second + 1) == std::string::npos};
}

Json fitted(const Json& operation, const Json& config) {
  const std::string path = operation.value("path", "");
  const auto place = table_of(path);
  const std::string& table = place.first;
  const bool is_row = place.second;
  const bool removes = operation.value("op", "") == "remove";
  const Json::json_pointer pointer(path);
  if (removes && !config.contains(pointer)) return nullptr;
  if (!is_row) return operation;
  const Json whole{{"op", removes ? "remove" : "add"}, {"path", "/" + table}};
  if (removes && config.at(table).size() == 1) return whole;
  if (removes || config.contains(table)) return operation;
  Json out = whole;
  out["value"] = {{pointer.back(), operation.value("value", Json::object())}};
  return out;
}

}  // namespace

Result<std::string> fit_patch(std::string_view patch, std::string_view config_db) {
  Json operations, config, out = Json::array();
  TRY_VOID(read(patch, Json::value_t::array, "the patch", operations));
  TRY_VOID(read(config_db, Json::value_t::object, "config_db.json", config));
  for (const auto& operation : operations) {
    Json one;
    try {
      one = fitted(operation, config);
    } catch (const Json::exception& fault) {
      return make_error(Code::invalid, std::string("an operation is malformed: ") + fault.what());
    }
    if (one.is_null()) continue;
    TRY_VOID(run_patch(config, Json::array({one})));
    out.push_back(std::move(one));
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> apply_patch(std::string_view patch, std::string_view config_db) {
  Json operations, config;
  TRY_VOID(read(patch, Json::value_t::array, "the patch", operations));
  TRY_VOID(read(config_db, Json::value_t::object, "config_db.json", config));
  TRY_VOID(run_patch(config, operations));
  return config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tundish::switches::sonic_parts
