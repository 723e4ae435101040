#pragma once
// A command line against canned answers of an API on a socket file: what people run, without a
// tundishd.
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "edge/cli/program.hpp"
#include "runtime/net/http_server.hpp"

namespace tundish::edge::cli {

class Folder {
 public:
  Folder() {
    std::string name = "/tmp/tundish-cli-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name) << text;
    return *this / name;
  }

 private:
  std::string path_;
};

/// Answers by "METHOD /path" (without the query); anything else is 404. Keeps what it was asked.
class CannedApi {
 public:
  using Answer = std::function<HttpResponse(const net::ServerRequest&)>;

  CannedApi() : thread_([this] { loop_.run(); }) {
    sync([this] {
      auto made = net::HttpServer::listen(
          loop_, {.url = url()}, [this](auto request, auto reply) { answer(request, reply); });
      ASSERT_TRUE(made) << made.error().message();
      server_ = std::move(*made);
    });
  }
  ~CannedApi() {
    sync([this] { server_.reset(); });
    loop_.stop();
    thread_.join();
  }

  std::string url() const { return "unix:" + (folder_ / "api.sock"); }
  void on(const std::string& call, const std::string& body, int status = 200) {
    on(call, [=](const net::ServerRequest&) { return HttpResponse{status, {}, body}; });
  }
  void on(const std::string& call, Answer answer) {
    const std::lock_guard lock(guard_);
    answers_[call] = std::move(answer);
  }
  std::vector<net::ServerRequest> asked(const std::string& call) {
    const std::lock_guard lock(guard_);
    return asked_[call];
  }

 private:
  void answer(const net::ServerRequest& request, const net::Reply& reply) {
    const std::lock_guard lock(guard_);
    const std::string call = request.method + " " + request.path;
    asked_[call].push_back(request);
    const auto found = answers_.find(call);
    if (found != answers_.end()) return reply.send(found->second(request));
    reply.send(404, R"({"code":"not_found","message":"nothing at )" + request.path + "\"}");
  }
  void sync(const std::function<void()>& task) {
    std::mutex guard;
    std::condition_variable wake;
    bool is_done = false;
    loop_.post([&] {
      task();
      const std::lock_guard lock(guard);
      is_done = true;
      wake.notify_one();
    });
    std::unique_lock lock(guard);
    wake.wait(lock, [&] { return is_done; });
  }

  Folder folder_;
  net::Loop loop_;
  std::mutex guard_;
  std::map<std::string, Answer> answers_;
  std::map<std::string, std::vector<net::ServerRequest>> asked_;
  std::unique_ptr<net::HttpServer> server_;
  std::thread thread_;
};

struct Ran {
  int code = -1;
  std::string out, err;
};

class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC-2", 1);  // two hours east: a time that is not local is seen
    tzset();
  }
  Ran run(std::vector<std::string> args, const std::string& input = "",
          Presence presence = Presence::script) {
    std::ostringstream out, err;
    std::istringstream in(input);
    Context context({out, err, in, presence}, variables);
    Ran ran;
    ran.code = run_program(args, context);
    ran.out = out.str();
    ran.err = err.str();
    return ran;
  }

  CannedApi api;
  Folder home;
  Context::Variables variables = {
      {"TUNDISH_API", api.url()}, {"TUNDISH_TOKEN", "secret-1"}, {"XDG_CONFIG_HOME", home / ""}};
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tundish::edge::cli
