#pragma once
#include <string>

#include "ports/drivers.hpp"
#include "ports/wire.hpp"

namespace tundish::tundishd {

/// POSTs a message; the receiver tells a try again from a new message by its key. What is due, and
/// when it is tried again, is the desk's.
class Webhook final : public Notifier {
 public:
  Webhook(Wire& wire, std::string url) : wire_(wire), url_(std::move(url)) {}
  void start(const NoticeMessage& message, Done done) override;

 private:
  Wire& wire_;
  std::string url_;
};

}  // namespace tundish::tundishd
