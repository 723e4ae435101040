#pragma once
// The HTTP API as the command line sees it: bodies in, bodies or Errors out.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "codec/json.hpp"

namespace tundish::edge::cli {

struct Endpoint {
  std::string api;      ///< http://..., https://... or unix:/socket
  std::string token;    ///< empty: none is sent
  std::string ca_file;  ///< empty: the system's store
};

/// One call that changes something.
struct ApiChange {
  std::string method = "POST";
  std::string path;
  std::string body;
  std::string reason = {};
};

struct WatchEvent {
  std::int64_t revision = 0;
  std::string kind, id;
  std::string object;  ///< JSON; empty when it was deleted
};

/// Head of an answer that doctor looks at.
struct Contact {
  int status = 0;
  std::optional<Instant> sent_at;  ///< the Date header
};

class ApiClient {
 public:
  explicit ApiClient(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  const Endpoint& endpoint() const { return endpoint_; }

  Result<std::string> get(const std::string& path) const;
  /// Every page of a list; each item as its JSON.
  Result<std::vector<std::string>> list(const std::string& path) const;
  Result<std::string> change(const ApiChange& change) const;
  /// As change() in a dry run: the API makes every check and changes nothing.
  Result<std::string> rehearse(const ApiChange& change) const;
  /// As change(), but takes 422 with a body that is no ErrorBody as an answer.
  Result<std::string> exchange(const ApiChange& change) const;
  /// Blocks; `on_event` gets nullptr in every second of silence, and ends the watch by false.
  Result<> watch(const std::string& path,
                 const std::function<bool(const WatchEvent*)>& on_event) const;
  Result<Contact> contact(const std::string& path) const;

 private:
  Endpoint endpoint_;
};

/// The answer's ErrorBody as an Error; what is no ErrorBody is named by its HTTP status.
Error api_error(int status, const std::string& body);
/// A path of percent-escaped words: "/v1/nodes/gpu%2001".
std::string api_path(const std::vector<std::string>& words);
std::string escape_word(const std::string& word);

/// Fields that a newer tundishd sends are left out, never refused.
template <Described T>
Result<T> parse_object(const std::string& body) {
  T object{};
  TRY_VOID(parse_json(body, object, Unknown::keep_out));
  return object;
}

template <Described T>
Result<T> get_object(const ApiClient& client, const std::string& path) {
  return parse_object<T>(TRY(client.get(path)));
}

template <Described T>
Result<std::vector<T>> parse_objects(const std::vector<std::string>& items) {
  std::vector<T> out;
  for (const auto& item : items) out.push_back(TRY(parse_object<T>(item)));
  return out;
}

template <Described T>
Result<std::vector<T>> get_objects(const ApiClient& client, const std::string& path) {
  return parse_objects<T>(TRY(client.list(path)));
}

}  // namespace tundish::edge::cli
