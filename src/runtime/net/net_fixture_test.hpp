#pragma once
// A loop on its own thread with a server, for the tests of this folder.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "runtime/net/http_client.hpp"
#include "runtime/net/http_server.hpp"
#include "runtime/net/loop.hpp"

namespace tundish::net {

/// A directory of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = "/tmp/tundish-net-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class RunningLoop {
 public:
  RunningLoop() : thread_([this] { loop.run(); }) {}
  ~RunningLoop() { finish(); }
  void finish() {
    if (!thread_.joinable()) return;
    loop.stop();
    thread_.join();
  }
  /// Runs `task` on the loop thread and waits for it.
  void sync(const std::function<void()>& task) {
    std::mutex guard;
    std::condition_variable wake;
    bool is_done = false;
    loop.post([&] {
      task();
      const std::lock_guard lock(guard);
      is_done = true;
      wake.notify_one();
    });
    std::unique_lock lock(guard);
    wake.wait(lock, [&] { return is_done; });
  }
  Loop loop;

 private:
  std::thread thread_;
};

/// A server on a running loop; both are taken down in the right order.
class TestServer {
 public:
  explicit TestServer(Handler handler, ListenOptions options = {}) {
    if (options.url.empty()) options.url = "http://127.0.0.1:0";
    loop_.sync([&] {
      auto made = HttpServer::listen(loop_.loop, options, std::move(handler));
      if (!made) {
        ADD_FAILURE() << made.error().message();
        return;
      }
      server_ = std::move(*made);
      port_ = server_->port();
    });
    scheme_ = options.url.substr(0, options.url.find(':'));
  }
  ~TestServer() { stop(); }
  void stop() {
    loop_.sync([&] { server_.reset(); });
  }
  std::string url(const std::string& target = "/") const {
    return scheme_ + "://127.0.0.1:" + std::to_string(port_) + target;
  }
  int port() const { return port_; }
  RunningLoop& running() { return loop_; }

 private:
  RunningLoop loop_;
  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
  std::string scheme_;
};

inline HttpRequest get(std::string url) { return {"GET", std::move(url), {}, ""}; }
inline HttpRequest post(std::string url, std::string body) {
  return {"POST", std::move(url), {}, std::move(body)};
}

/// Waits up to `limit` for a condition that another thread brings about.
inline bool eventually(const std::function<bool()>& holds, Duration limit = seconds(3)) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(limit.us);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace tundish::net
