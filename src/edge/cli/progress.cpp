#include "edge/cli/progress.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "edge/cli/context.hpp"

namespace tundish::edge::cli {

Result<std::optional<std::string>> with_progress(
    Context& context, const std::string& what,
    const std::function<Result<std::optional<std::string>>()>& call, Duration every) {
  std::mutex guard;
  std::condition_variable wake;
  bool is_done = false;
  std::thread teller([&] {
    std::unique_lock lock(guard);
    const auto pause = std::chrono::microseconds(every.us);
    for (int told = 1; !wake.wait_for(lock, pause, [&] { return is_done; }); ++told) {
      context.note(what + ", " + std::to_string(every.us * told / 1000000) + " s");
    }
  });
  auto result = call();
  {
    const std::lock_guard lock(guard);
    is_done = true;
  }
  wake.notify_one();
  teller.join();
  return result;
}

}  // namespace tundish::edge::cli
