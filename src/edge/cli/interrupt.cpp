#include "edge/cli/interrupt.hpp"

#include <pthread.h>
#include <time.h>

namespace tundish::edge::cli {

Interruptible::Interruptible() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

Interruptible::~Interruptible() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool Interruptible::pause(Duration span) {
  timespec limit{};
  limit.tv_sec = span.s();
  limit.tv_nsec = (span.us % 1000000) * 1000;
  if (!seen_ && sigtimedwait(&signals_, nullptr, &limit) > 0) seen_ = true;
  return seen_;
}

}  // namespace tundish::edge::cli
