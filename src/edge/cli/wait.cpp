#include "edge/cli/wait.hpp"

#include <chrono>

#include "edge/cli/interrupt.hpp"

namespace tundish::edge::cli {
namespace {

constexpr Duration look_interval = milliseconds(500);
constexpr Duration repeat_interval = seconds(15);

Duration since(std::chrono::steady_clock::time_point start) {
  return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                                start)
              .count()};
}

}  // namespace

Result<int> wait_until(Context& context, const Waited& waited,
                       const std::function<Result<std::string>()>& missing) {
  Interruptible interruptible;
  const auto start = std::chrono::steady_clock::now();
  auto told = start;
  std::string last;
  while (true) {
    auto now_missing = missing();
    // The API may be restarted while we wait: that is no answer about the object.
    if (!now_missing && now_missing.error().code == Code::unavailable) {
      now_missing = "the API does not answer; still asking";
    }
    const std::string text = TRY(std::move(now_missing));
    if (text.empty()) return exit_done;
    // Nobody sits before a silent terminal for ten minutes: what has not changed is said again.
    if (text != last || since(told) >= repeat_interval) {
      context.note(render_duration(since(start)) + "  " + text);
      told = std::chrono::steady_clock::now();
    }
    last = text;
    const Duration left = context.settings().timeout - since(start);
    if (left.us <= 0) {
      context.note("tundish: " + waited.object + ": not there after " +
                   render_duration(context.settings().timeout) + ": " + text +
                   "\n  remedy: it goes on without you; see `" + waited.look + "`");
      return exit_unknown;
    }
    if (interruptible.pause(std::min(left, look_interval))) {
      context.note("tundish: " + waited.object + ": you stopped waiting; the order stays in place" +
                   "\n  remedy: see `" + waited.look + "`");
      return exit_declined;
    }
  }
}

}  // namespace tundish::edge::cli
