#pragma once
// The pure half of HTTP: URLs, percent escapes, targets, header lines. No socket, no Asio.
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ports/wire.hpp"

namespace tundish::net {

enum class Scheme { http, https, socket_file };

struct Url {
  Scheme scheme = Scheme::http;
  std::string address;       ///< name or literal, without brackets
  int port = 0;              ///< 0 only when it was written so (listeners: any)
  std::string socket_path;   ///< for Scheme::socket_file
  std::string target = "/";  ///< path and query as sent
  /// Requests with equal origins may share a connection.
  std::string origin() const;
};

/// http://A[:P][/T], https://A[:P][/T], unix:/socket[:/T]; A may be [v6].
Result<Url> parse_url(std::string_view text);

/// nullopt for a broken escape or an escaped NUL.
std::optional<std::string> decode_percent(std::string_view text);

struct Target {
  std::string path;
  std::map<std::string, std::string> query;  ///< of a repeated name the last counts
};
/// Origin form only ("/path?query"); nullopt for anything else.
std::optional<Target> parse_target(std::string_view target);

/// Names are tokens and no value smuggles a line break.
bool are_headers_safe(const std::map<std::string, std::string>& headers);

/// Head and body in one piece; `invalid` for a method or header that would break the framing.
Result<std::string> render_request(const HttpRequest& request, const Url& url);

enum class Framing { none, content_length, chunked, until_close };
enum class After { keep_alive, close };
std::string render_response_head(const HttpResponse& response, Framing framing, After after);
std::string render_chunk(std::string_view data);
std::string_view reason_phrase(int status);

/// Methods that may be sent twice (RFC 9110, section 9.2.2).
bool is_idempotent(std::string_view method);

}  // namespace tundish::net
