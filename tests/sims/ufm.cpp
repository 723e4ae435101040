#include "ufm.hpp"

#include <nlohmann/json.hpp>

namespace tundish::sims {
namespace {

using Json = nlohmann::json;

HttpResponse respond(int status, const std::string& body) { return {status, {}, body}; }

HttpResponse bad(const std::string& why) { return respond(400, Json{{"error", why}}.dump()); }

bool is_hex(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

bool is_pkey(const Json& body) {
  if (!body.is_object() || !body.contains("pkey") || !body["pkey"].is_string()) return false;
  const std::string text = body["pkey"];
  if (text.rfind("0x", 0) != 0 || !is_hex(text.substr(2)) || text.size() > 6) return false;
  const unsigned long value = std::stoul(text, nullptr, 16);
  return value > 0 && value <= 0x7fff;
}

std::string key_of(const Json& body) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%lx",
                std::stoul(body["pkey"].get<std::string>(), nullptr, 16));
  return text;
}

bool has_guids(const Json& body) {
  if (!body.contains("guids") || !body["guids"].is_array() || body["guids"].empty()) return false;
  for (const auto& guid : body["guids"]) {
    if (!guid.is_string()) return false;
    const std::string text = guid;
    if (text.size() < 16 || text.size() > 20 || !is_hex(text)) return false;
  }
  return true;
}

std::string membership_at(const Json& body, std::size_t index) {
  if (body.contains("memberships")) return body["memberships"].at(index);
  return body.value("membership", "full");
}

}  // namespace

Ufm::Answer Ufm::answer(const std::string& method, const std::string& path,
                        const std::string& query, const std::string& body) {
  if (method == "GET" && path == "/resources/pkeys") {
    if (query != "guids_data=true" && query != "qos_conf=true")
      return {bad("one of the two"), false};
    return {respond(200, show(query)), false};
  }
  calls.push_back(method + " " + path + (body.empty() ? "" : " " + body));
  const auto before = pkeys;
  HttpResponse out = write(method, path, body);
  if (knobs.takes_and_does_nothing) pkeys = before;
  late_ = knobs.shows_late;
  if (knobs.times_out == 0) return {out, false};
  --knobs.times_out;
  return {out, true};
}

HttpResponse Ufm::write(const std::string& method, const std::string& path,
                        const std::string& body) {
  if (method == "POST" && path == "/resources/pkeys/add") return create(body);
  if (method == "POST" && path == "/resources/pkeys") return add(body);
  if (method == "PUT" && path == "/resources/pkeys") return set(body);
  if (method == "POST" && path == "/actions/remove_guids_from_pkey") return remove(body);
  if (method == "PUT" && path == "/resources/pkeys/qos_conf") {
    const Json json = Json::parse(body, nullptr, false);
    if (!is_pkey(json) || !pkeys.contains(key_of(json))) return respond(404, "{}");
    Pkey& pkey = pkeys[key_of(json)];
    pkey.mtu_limit = json.value("mtu_limit", pkey.mtu_limit);
    pkey.service_level = json.value("service_level", pkey.service_level);
    pkey.rate_limit = json.value("rate_limit", pkey.rate_limit);
    return respond(200, "{}");
  }
  const std::string below = "/resources/pkeys/";
  if (method == "DELETE" && path.rfind(below, 0) == 0) {
    return pkeys.erase(path.substr(below.size())) == 1 ? respond(200, "{}") : respond(404, "{}");
  }
  return respond(405, "{}");
}

HttpResponse Ufm::create(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!is_pkey(json)) return bad("pkey");
  if (pkeys.contains(key_of(json))) return bad("pkey already exists");
  Pkey pkey;
  pkey.name = json.value("partition_name", "api_pkey_" + key_of(json));
  pkey.ip_over_ib = json.value("ip_over_ib", true);
  pkey.mtu_limit = json.value("mtu_limit", 2);
  if (pkey.mtu_limit != 2 && pkey.mtu_limit != 4) return bad("mtu_limit");
  pkey.service_level = json.value("service_level", 0);
  pkey.rate_limit = json.value("rate_limit", 2.5);
  pkey.hidden = knobs.hides_new;
  pkeys[key_of(json)] = pkey;
  return respond(200, "{}");
}

HttpResponse Ufm::add(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!is_pkey(json) || !has_guids(json)) return bad("pkey and guids");
  const auto& guids = json["guids"];
  if (json.contains("memberships") && json["memberships"].size() != guids.size()) {
    return bad("memberships");
  }
  const auto [at, is_new] = pkeys.try_emplace(key_of(json));
  if (is_new) at->second.name = "api_pkey_" + key_of(json);
  at->second.ip_over_ib = json.value("ip_over_ib", true);
  const std::size_t count = knobs.does_half ? (guids.size() + 1) / 2 : guids.size();
  for (std::size_t i = 0; i < count; ++i) {
    at->second.guids[guids[i]] = {membership_at(json, i), json.value("index0", false)};
  }
  return respond(200, "{}");
}

/// The trap: whoever is not named is out.
HttpResponse Ufm::set(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!is_pkey(json) || !has_guids(json)) return bad("pkey and guids");
  pkeys[key_of(json)].guids.clear();
  return add(body);
}

HttpResponse Ufm::remove(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!is_pkey(json) || !has_guids(json)) return bad("pkey and guids");
  const auto at = pkeys.find(key_of(json));
  if (at == pkeys.end()) return respond(404, "{}");
  const std::size_t size = json["guids"].size();
  const std::size_t count = knobs.does_half ? (size + 1) / 2 : size;
  for (std::size_t i = 0; i < count; ++i) at->second.guids.erase(json["guids"][i]);
  if (at->second.guids.empty()) pkeys.erase(at);  // the last one takes the partition along
  return respond(200, "{}");
}

std::string Ufm::show(const std::string& query) {
  if (late_ > 0)
    --late_;
  else
    shown_ = pkeys;
  Json out = Json::object();
  for (const auto& [key, pkey] : shown_) {
    const auto real = pkeys.find(key);
    if (pkey.hidden > 0) {
      if (real != pkeys.end() && real->second.hidden > 0) --real->second.hidden;
      continue;
    }
    Json& row = out[key];
    row["partition"] = pkey.name;
    row["ip_over_ib"] = pkey.ip_over_ib;
    if (query == "qos_conf=true") {
      row["mtu_limit"] = pkey.mtu_limit;
      row["service_level"] = pkey.service_level;
      row["rate_limit"] = pkey.rate_limit;
      continue;
    }
    row["guids"] = Json::array();
    for (const auto& [guid, member] : pkey.guids) {
      row["guids"].push_back(
          {{"guid", guid}, {"membership", member.membership}, {"index0", member.index0}});
    }
  }
  return out.dump();
}

}  // namespace tundish::sims
