#include <map>
#include <set>

#include "codec/reference.hpp"
#include "edge/api/routes.hpp"

namespace tundish::edge {
namespace {

using namespace api;  // NOLINT: the parts of this one function

/// Texts of the route table hold no character that JSON escapes; a test parses the result.
std::string quote(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// "/v1/nodes/*/drain" -> "/v1/nodes/{name}/drain".
std::string path_of(const std::string& pattern) {
  std::string out = pattern;
  const auto star = out.find('*');
  if (star != std::string::npos) out.replace(star, 1, "{name}");
  return out;
}

std::string schema_ref(const Body& body) {
  const std::string ref = "{\"$ref\":\"#/components/schemas/" + std::string(body.name) + "\"}";
  return body.list ? "{\"type\":\"array\",\"items\":" + ref + "}" : ref;
}

std::string content_of(const Body& body) {
  return "{\"application/json\":{\"schema\":" + schema_ref(body) + "}}";
}

std::string render_route(const Route& route) {
  std::string out = "{\"summary\":" + quote(route.doc);
  if (route.pattern.find('*') != std::string::npos) {
    out +=
        ",\"parameters\":[{\"name\":\"name\",\"in\":\"path\",\"required\":true,"
        "\"schema\":{\"type\":\"string\"},\"description\":\"name or id\"}]";
  }
  if (route.asks.schema) {
    out += ",\"requestBody\":{\"content\":" + content_of(route.asks) + "}";
  }
  out += ",\"responses\":{\"default\":{\"description\":\"refused or failed\",\"content\":" +
         content_of({"error_body"}) + "},\"2XX\":{\"description\":\"done\"";
  if (route.answers.schema) out += ",\"content\":" + content_of(route.answers);
  out += "}}";
  if (route.right == Right::none) out += ",\"security\":[]";
  return out + "}";
}

std::string method_key(std::string_view method) {
  std::string out;
  for (const char c : method) out += static_cast<char>(c - 'A' + 'a');
  return quote(out);
}

}  // namespace

std::string render_openapi() {
  std::map<std::string, std::string> paths;
  std::map<std::string, std::string> schemas;
  for (const auto& route : all_routes()) {
    std::string& path = paths[path_of(route.pattern)];
    path += (path.empty() ? "" : ",") + method_key(route.method) + ":" + render_route(route);
    for (const auto* body : {&route.asks, &route.answers}) {
      if (body->schema) schemas.emplace(body->name, body->schema());
    }
  }
  ErrorBody scratch;
  schemas["error_body"] = render_openapi_schema(scratch);
  std::string out =
      "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Tundish\",\"version\":\"v1\"},"
      "\"security\":[{\"bearer\":[]}],\"paths\":{";
  const char* comma = "";
  for (const auto& [path, methods] : paths) {
    out += comma + quote(path) + ":{" + methods + "}";
    comma = ",";
  }
  out +=
      "},\"components\":{\"securitySchemes\":{\"bearer\":{\"type\":\"http\","
      "\"scheme\":\"bearer\"}},\"schemas\":{";
  comma = "";
  for (const auto& [name, schema] : schemas) {
    out += comma + quote(name) + ":" + schema;
    comma = ",";
  }
  return out + "}}}";
}

}  // namespace tundish::edge
