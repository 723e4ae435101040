#include "edge/cli/client.hpp"

#include <time.h>

#include <cstring>
#include <random>

#include "base/text.hpp"
#include "edge/api/contract.hpp"
#include "edge/cli/event_lines.hpp"
#include "runtime/net/http_client.hpp"

namespace tundish::edge::cli {
namespace {

constexpr Duration call_limit = seconds(60);
constexpr const char* page_size = "500";

/// unix:/socket needs a colon before the path, a URL does not.
std::string url_of(const std::string& api, const std::string& path) {
  std::string base = api;
  while (!base.empty() && base.back() == '/') base.pop_back();
  return base.rfind("unix:", 0) == 0 ? base + ":" + path : base + path;
}

HttpRequest make_request(const Endpoint& endpoint, const std::string& path) {
  HttpRequest request;
  request.url = url_of(endpoint.api, path);
  if (!endpoint.token.empty()) request.headers["Authorization"] = "Bearer " + endpoint.token;
  return request;
}

std::string make_key() {
  std::random_device random;
  std::string bytes;
  for (int i = 0; i < 16; ++i) bytes += static_cast<char>(random() & 0xFF);
  return render_hex(bytes);
}

/// A header cannot carry line breaks.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

/// Whatever kept the API from answering: nothing is known about the object. A wrong address, or a
/// certificate that is not trusted, is a refusal.
Error unreachable(Error error, const Endpoint& endpoint) {
  const bool keeps =
      error.code == Code::invalid || error.code == Code::denied || error.code == Code::timeout;
  if (!keeps) error.code = Code::unavailable;
  error.what = "no answer from " + endpoint.api + ": " + error.what;
  if (error.remedy.empty()) {
    error.remedy =
        "is tundishd running there? see `tundish doctor`; the address comes from --api, "
        "TUNDISH_API or `tundish context`";
  }
  return error;
}

Result<HttpResponse> call(const Endpoint& endpoint, const HttpRequest& request) {
  auto response = net::http_call(request, call_limit, {endpoint.ca_file});
  if (!response) return unreachable(response.error(), endpoint);
  if (response->status < 200 || response->status > 299) {
    return api_error(response->status, response->body);
  }
  return response;
}

std::optional<Code> find_code(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    if (code_name(static_cast<Code>(i)) == name) return static_cast<Code>(i);
  }
  return std::nullopt;
}

/// What an answer that is not from tundishd, or from a proxy before it, means.
Code code_of_status(int status) {
  if (status == 401 || status == 403) return Code::denied;
  if (status == 404) return Code::not_found;
  if (status == 409 || status == 412) return Code::conflict;
  if (status == 504) return Code::timeout;
  if (status == 501) return Code::unsupported;
  if (status >= 400 && status < 500) return Code::invalid;
  return status == 502 || status == 503 ? Code::unavailable : Code::internal;
}

}  // namespace

Error api_error(int status, const std::string& body) {
  ErrorBody told;
  if (!parse_json(body, told, Unknown::keep_out) || told.message.empty()) {
    return make_error(code_of_status(status), "the API answered " + std::to_string(status));
  }
  Error error = make_error(find_code(told.code).value_or(code_of_status(status)), told.message);
  error.object = told.object;
  error.remedy = told.remedy;
  if (told.retry_after_ms > 0) error.retry_after = milliseconds(told.retry_after_ms);
  return error;
}

std::string escape_word(const std::string& word) {
  static constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
  std::string out;
  for (const char c : word) {
    if (plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += "%" + render_hex(std::string_view(&c, 1));
    }
  }
  return out;
}

std::string api_path(const std::vector<std::string>& words) {
  std::string out = "/v1";
  for (const auto& word : words) out += "/" + escape_word(word);
  return out;
}

Result<std::string> ApiClient::get(const std::string& path) const {
  return TRY(call(endpoint_, make_request(endpoint_, path))).body;
}

Result<std::vector<std::string>> ApiClient::list(const std::string& path) const {
  std::vector<std::string> out;
  const std::string sign = path.find('?') == std::string::npos ? "?" : "&";
  std::string page;
  while (true) {
    const std::string query = sign + "limit=" + page_size + (page.empty() ? "" : "&page=" + page);
    const auto response = TRY(call(endpoint_, make_request(endpoint_, path + query)));
    const auto items = TRY(JsonValue::parse(response.body));
    if (items.kind() != JsonValue::Kind::list) {
      return make_error(Code::corrupt, "the API answered " + path +
                                           " with something else than a "
                                           "list");
    }
    for (const auto& item : items.items()) out.push_back(item.render());
    const auto next = response.headers.find("x-next-page");
    if (next == response.headers.end() || next->second.empty()) return out;
    if (escape_word(next->second) == page) {
      return make_error(Code::corrupt, "the API hands out page " + page + " of " + path + " again");
    }
    page = escape_word(next->second);
  }
}

namespace {

HttpRequest make_change(const Endpoint& endpoint, const ApiChange& change) {
  HttpRequest request = make_request(endpoint, change.path);
  request.method = change.method;
  request.body = change.body;
  request.headers["Content-Type"] = "application/json";
  request.headers["Idempotency-Key"] = make_key();
  if (!change.reason.empty()) request.headers["X-Reason"] = one_line(change.reason);
  return request;
}

}  // namespace

Result<std::string> ApiClient::change(const ApiChange& change) const {
  return TRY(call(endpoint_, make_change(endpoint_, change))).body;
}

Result<std::string> ApiClient::rehearse(const ApiChange& change) const {
  HttpRequest request = make_change(endpoint_, change);
  request.url += "?dry_run=true";
  const auto response = TRY(call(endpoint_, request));
  if (response.headers.contains("x-dry-run")) return response.body;
  return make_error(Code::unsupported,
                    "the API knows no dry run and has DONE " + change.method + " " + change.path)
      .with_remedy("take it back if you must; use a tundishd as new as this tundish");
}

Result<std::string> ApiClient::exchange(const ApiChange& change) const {
  auto response = net::http_call(make_change(endpoint_, change), call_limit, {endpoint_.ca_file});
  if (!response) return unreachable(response.error(), endpoint_);
  const bool is_answer = response->status >= 200 && response->status <= 299;
  const auto value = JsonValue::parse(response->body);
  if (is_answer || (response->status == 422 && value && !value->at("problems").is_absent())) {
    return response->body;
  }
  return api_error(response->status, response->body);
}

Result<> ApiClient::watch(const std::string& path,
                          const std::function<bool(const WatchEvent*)>& on_event) const {
  EventLines lines;
  bool goes_on = true;
  const auto on_chunk = [&](std::string_view chunk) {
    if (chunk.empty()) return goes_on = on_event(nullptr);
    for (const auto& data : lines.take(chunk)) {
      const auto value = JsonValue::parse(data);
      if (!value || !goes_on) continue;
      WatchEvent event;
      event.revision = value->at("revision").as_integer().value_or(0);
      event.kind = value->at("kind").as_text().value_or("");
      event.id = value->at("id").as_text().value_or("");
      const JsonValue object = value->at("object");
      if (object.kind() == JsonValue::Kind::object) event.object = object.render();
      goes_on = on_event(&event);
    }
    return goes_on;
  };
  const auto ended = net::http_stream(make_request(endpoint_, path), {endpoint_.ca_file}, on_chunk);
  if (!ended) return unreachable(ended.error(), endpoint_);
  return {};
}

Result<Contact> ApiClient::contact(const std::string& path) const {
  auto response = net::http_call(make_request(endpoint_, path), seconds(10), {endpoint_.ca_file});
  if (!response) return unreachable(response.error(), endpoint_);
  Contact contact;
  contact.status = response->status;
  struct tm parts {};
  const std::string date = response->headers["date"];
  if (strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) != nullptr) {
    contact.sent_at = Instant{} + seconds(timegm(&parts));
  }
  return contact;
}

}  // namespace tundish::edge::cli
