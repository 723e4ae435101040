#include "runtime/net/http_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/text.hpp"

namespace tundish::net {
namespace {

Error bad_url(std::string_view text, std::string_view why) {
  return make_error(Code::invalid, "URL '" + std::string(text) + "': " + std::string(why))
      .with_remedy("write http://ADDRESS:PORT/..., https://ADDRESS:PORT/... or unix:/SOCKET:/...");
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
  });
}

/// "ADDR", "ADDR:PORT", "[V6]" or "[V6]:PORT".
bool parse_authority(std::string_view text, Url& url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return false;
    url.address = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else {
    const auto colon = text.find(':');
    url.address = text.substr(0, colon);
    port = colon == std::string_view::npos ? "" : text.substr(colon);
  }
  if (url.address.empty() || text.find('@') != std::string_view::npos) return false;
  if (port.empty()) return true;
  const auto number = parse_integer(port.substr(1));
  if (port[0] != ':' || !number || *number < 0 || *number > 65535) return false;
  url.port = static_cast<int>(*number);
  return true;
}

Result<Url> parse_socket_url(std::string_view text) {
  Url url;
  url.scheme = Scheme::socket_file;
  const std::string_view rest = text.substr(5);
  const auto border = rest.find(":/");
  url.socket_path = rest.substr(0, border);
  if (border != std::string_view::npos) url.target = rest.substr(border + 1);
  if (!url.socket_path.starts_with('/')) return bad_url(text, "the socket path is not absolute");
  // sockaddr_un holds 108 bytes with the final zero.
  if (url.socket_path.size() > 107)
    return bad_url(text, "the socket path is longer than 107 bytes");
  return url;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string Url::origin() const {
  if (scheme == Scheme::socket_file) return "unix:" + socket_path;
  return (scheme == Scheme::http ? "http://" : "https://") + address + " " + std::to_string(port);
}

Result<Url> parse_url(std::string_view text) {
  if (!is_printable(text)) return bad_url(text, "holds a blank or a control character");
  text = text.substr(0, text.find('#'));
  if (text.starts_with("unix:")) return parse_socket_url(text);
  Url url;
  std::string_view rest;
  if (text.starts_with("http://")) {
    url.port = 80;
    rest = text.substr(7);
  } else if (text.starts_with("https://")) {
    url.scheme = Scheme::https;
    url.port = 443;
    rest = text.substr(8);
  } else {
    return bad_url(text, "unknown scheme");
  }
  const auto border = rest.find_first_of("/?");
  if (!parse_authority(rest.substr(0, border), url)) return bad_url(text, "bad address or port");
  if (border != std::string_view::npos) {
    url.target = (rest[border] == '?' ? "/" : "") + std::string(rest.substr(border));
  }
  return url;
}

std::optional<std::string> decode_percent(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::optional<Target> parse_target(std::string_view target) {
  if (!target.starts_with('/')) return std::nullopt;
  target = target.substr(0, target.find('#'));
  const auto mark = target.find('?');
  auto path = decode_percent(target.substr(0, mark));
  if (!path) return std::nullopt;
  Target out{std::move(*path), {}};
  if (mark == std::string_view::npos) return out;
  for (std::string pair : split(target.substr(mark + 1), '&')) {
    if (pair.empty()) continue;
    std::replace(pair.begin(), pair.end(), '+', ' ');
    const std::string_view view = pair;
    const auto equals = view.find('=');
    const auto name = decode_percent(view.substr(0, equals));
    const auto value =
        decode_percent(equals == std::string_view::npos ? "" : view.substr(equals + 1));
    if (!name || !value) return std::nullopt;
    out.query[*name] = *value;
  }
  return out;
}

bool are_headers_safe(const std::map<std::string, std::string>& headers) {
  return std::all_of(headers.begin(), headers.end(), [](const auto& header) {
    return is_token(header.first) &&
           header.second.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos;
  });
}

Result<std::string> render_request(const HttpRequest& request, const Url& url) {
  if (!is_token(request.method) || !are_headers_safe(request.headers)) {
    return make_error(Code::invalid, "request to '" + request.url + "': bad method or header");
  }
  const bool v6 = url.address.find(':') != std::string::npos;
  std::string authority = v6 ? "[" + url.address + "]" : url.address;
  if (url.scheme == Scheme::socket_file) {
    authority = "localhost";
  } else if (url.port != (url.scheme == Scheme::http ? 80 : 443)) {
    authority += ":" + std::to_string(url.port);
  }
  std::string out = request.method + " " + url.target + " HTTP/1.1\r\n";
  bool has_host = false;
  for (const auto& [name, value] : request.headers) {
    const std::string lower = to_lower(name);
    // Framing is ours alone; a second length would let two readers disagree about the border.
    if (lower == "content-length" || lower == "transfer-encoding") continue;
    has_host = has_host || lower == "host";
    out += name + ": " + value + "\r\n";
  }
  if (!has_host) out += "host: " + authority + "\r\n";
  const bool takes_body =
      request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (takes_body || !request.body.empty()) {
    out += "content-length: " + std::to_string(request.body.size()) + "\r\n";
  }
  return out + "\r\n" + request.body;
}

std::string render_response_head(const HttpResponse& response, Framing framing, After after) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out += reason_phrase(response.status);
  out += "\r\n";
  for (const auto& [name, value] : response.headers) {
    const std::string lower = to_lower(name);
    if (lower == "content-length" || lower == "transfer-encoding" || lower == "connection")
      continue;
    out += name + ": " + value + "\r\n";
  }
  if (framing == Framing::content_length) {
    out += "content-length: " + std::to_string(response.body.size()) + "\r\n";
  } else if (framing == Framing::chunked) {
    out += "transfer-encoding: chunked\r\n";
  }
  if (after == After::close) out += "connection: close\r\n";
  return out + "\r\n";
}

std::string render_chunk(std::string_view data) {
  char size[24];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + std::string(data) + "\r\n";
}

std::string_view reason_phrase(int status) {
  // Source: RFC 9110, section 15, and RFC 6585.
  static constexpr std::array<std::pair<int, std::string_view>, 26> known{{
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Content"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  }};
  for (const auto& [code, phrase] : known) {
    if (code == status) return phrase;
  }
  return "Other";
}

bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" ||
         method == "OPTIONS";
}

}  // namespace tundish::net
