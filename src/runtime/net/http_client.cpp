#include "runtime/net/http_client.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <optional>
#include <set>
#include <vector>

#include "runtime/net/http_exchange.hpp"
#include "runtime/net/loop_impl.hpp"

namespace tundish::net {
namespace {

/// Idle connections kept per origin.
constexpr std::size_t idle_max = 4;
constexpr Duration stream_connect_limit = seconds(10);

/// Loads the trust store at the first https call only: that costs milliseconds.
class LazyTls {
 public:
  explicit LazyTls(TlsTrust trust) : trust_(std::move(trust)) {}
  Result<TlsContext> get(const Url& url) {
    if (url.scheme != Scheme::https) return TlsContext{};
    if (!context_) context_ = TRY(make_client_tls(trust_.ca_file));
    return context_;
  }

 private:
  TlsTrust trust_;
  TlsContext context_;
};

Code code_of_status(int status) {
  switch (status) {
    case 400: return Code::invalid;
    case 401:
    case 403: return Code::denied;
    case 404: return Code::not_found;
    case 409:
    case 410: return Code::conflict;
    case 429: return Code::exhausted;
    case 502:
    case 503: return Code::unavailable;
    case 504: return Code::timeout;
    default: return status < 500 ? Code::invalid : Code::internal;
  }
}

}  // namespace

struct HttpClient::Impl {
  Impl(Loop& loop, TlsTrust trust) : io(loop.impl().io), tls(std::move(trust)) {}
  ~Impl() {
    for (const auto& exchange : running) exchange->abandon();
  }

  void start(HttpRequest request, Duration limit, Done done);
  Exchange::Kept take_idle(const std::string& origin);
  void keep(const std::string& origin, Exchange::Kept transport);

  asio::io_context& io;
  LazyTls tls;
  std::map<std::string, std::vector<Exchange::Kept>> idle;
  std::set<std::shared_ptr<Exchange>> running;
};

Exchange::Kept HttpClient::Impl::take_idle(const std::string& origin) {
  const auto found = idle.find(origin);
  if (found == idle.end()) return nullptr;
  // The newest first: the others grow old and are dropped when they are found stale.
  auto transport = std::move(found->second.back());
  found->second.pop_back();
  if (found->second.empty()) idle.erase(found);
  return transport;
}

void HttpClient::Impl::keep(const std::string& origin, Exchange::Kept transport) {
  auto& list = idle[origin];
  if (list.size() == idle_max) list.erase(list.begin());
  list.push_back(std::move(transport));
}

void HttpClient::Impl::start(HttpRequest request, Duration limit, Done done) {
  auto url = parse_url(request.url);
  auto context = url ? tls.get(*url) : Result<TlsContext>(TlsContext{});
  if (!url || !context) {
    Error error = url ? std::move(context).error() : std::move(url).error();
    asio::post(io, [done = std::move(done), error = std::move(error)]() mutable {
      done(std::move(error));
    });
    return;
  }
  const std::string origin = url->origin();
  Exchange::Call call{std::move(request),  std::move(*url),   limit,
                      std::move(*context), take_idle(origin), nullptr};
  // The exchange keeps its `done`, so `done` must not keep the exchange.
  auto self = std::make_shared<std::weak_ptr<Exchange>>();
  auto exchange =
      std::make_shared<Exchange>(io, std::move(call),
                                 [this, self, origin, done = std::move(done)](
                                     Result<HttpResponse> result, Exchange::Kept kept) {
                                   running.erase(self->lock());
                                   if (kept) keep(origin, std::move(kept));
                                   done(std::move(result));  // last: it may destroy the client
                                 });
  *self = exchange;
  running.insert(exchange);
  exchange->start();
}

HttpClient::HttpClient(Loop& loop, TlsTrust trust)
    : impl_(std::make_unique<Impl>(loop, std::move(trust))) {}

HttpClient::~HttpClient() = default;

void HttpClient::start(HttpRequest request, Duration limit, Done done) {
  impl_->start(std::move(request), limit, std::move(done));
}

namespace {

/// Runs one exchange at a time on an event loop of its own.
struct BlockingCaller {
  explicit BlockingCaller(TlsTrust trust) : tls(std::move(trust)) {}
  Result<HttpResponse> run(HttpRequest request, Duration limit, Exchange::OnChunk on_chunk);

  /// Private to the calling thread. First, so that it outlives the connection.
  asio::io_context io{1};
  LazyTls tls;
  std::string origin;
  Exchange::Kept kept;
};

Result<HttpResponse> BlockingCaller::run(HttpRequest request, Duration limit,
                                         Exchange::OnChunk on_chunk) {
  Url url = TRY(parse_url(request.url));
  TlsContext context = TRY(tls.get(url));
  if (url.origin() != origin) kept.reset();
  origin = url.origin();
  std::optional<Result<HttpResponse>> result;
  Exchange::Call call{std::move(request), std::move(url),  limit,
                      std::move(context), std::move(kept), std::move(on_chunk)};
  const auto exchange = std::make_shared<Exchange>(
      io, std::move(call), [&](Result<HttpResponse> got, Exchange::Kept connection) {
        result = std::move(got);
        kept = std::move(connection);
      });
  io.restart();
  exchange->start();
  while (!result && io.run_one() > 0) {
  }
  if (!result) return make_error(Code::internal, "the call ended without a result");
  return std::move(*result);
}

}  // namespace

struct HttpSession::Impl {
  BlockingCaller caller;
};

HttpSession::HttpSession(TlsTrust trust) : impl_(new Impl{BlockingCaller(std::move(trust))}) {}

HttpSession::~HttpSession() = default;

Result<HttpResponse> HttpSession::call(const HttpRequest& request, Duration limit) {
  return impl_->caller.run(request, limit, nullptr);
}

Result<HttpResponse> http_call(const HttpRequest& request, Duration limit, const TlsTrust& trust) {
  HttpRequest once = request;
  once.headers["connection"] = "close";
  return HttpSession(trust).call(once, limit);
}

Result<> http_stream(const HttpRequest& request, const TlsTrust& trust,
                     const std::function<bool(std::string_view)>& on_chunk) {
  BlockingCaller session(trust);
  const HttpResponse response = TRY(session.run(request, stream_connect_limit, on_chunk));
  if (response.status == 0 || (response.status >= 200 && response.status <= 299)) return {};
  return make_error(code_of_status(response.status), request.url + " answered " +
                                                         std::to_string(response.status) + ": " +
                                                         response.body.substr(0, 500));
}

}  // namespace tundish::net
