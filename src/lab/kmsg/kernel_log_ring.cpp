#include "lab/kmsg/kernel_log_ring.hpp"

#include "base/text.hpp"

namespace tundish::lab {
namespace {

// Source: printk.c, msg_print_ext_body: control bytes, bytes above 126 and the backslash.
std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte >= 127 || c == '\\') {
      out += "\\x" + render_hex(std::string_view(&c, 1));
    } else {
      out += c;
    }
  }
  return out;
}

// A data block of the kernel's ring is one long (its id) and the text, aligned to a long.
std::size_t cost_of(std::string_view text) { return 8 + (text.size() + 7) / 8 * 8; }

}  // namespace

KernelLine parse_kernel_write(std::string_view written) {
  KernelLine out{.priority = {.facility = 1, .level = 4}, .text = written};
  if (written.starts_with('<')) {
    const std::size_t close = written.find('>');
    const auto number = close == std::string_view::npos
                            ? std::nullopt
                            : parse_integer(written.substr(1, close - 1));
    if (number && *number >= 0) {
      const auto facility = static_cast<unsigned>(*number >> 3) & 0xff;
      out.priority.level = static_cast<unsigned>(*number & 7);
      if (facility != 0) out.priority.facility = facility;
      out.text.remove_prefix(close + 1);
    }
  }
  if (out.text.ends_with('\n')) out.text.remove_suffix(1);
  return out;
}

void KernelLogRing::append(KernelPriority priority, std::int64_t usec, std::string_view text) {
  const unsigned prio = priority.facility * 8 + priority.level % 8;
  Record record;
  record.cost = cost_of(text);
  record.line = std::to_string(prio) + "," + std::to_string(next_seq_) + "," +
                std::to_string(usec) + ",-;" + escape(text) + "\n";
  used_bytes_ += record.cost;
  records_.push_back(std::move(record));
  ++next_seq_;
  while (used_bytes_ > capacity_bytes || records_.size() > capacity_records) {
    used_bytes_ -= records_.front().cost;
    records_.pop_front();
  }
}

KernelLogRing::Reading KernelLogRing::read(std::uint64_t cursor) const {
  if (cursor >= next_seq_) return {.kind = Reading::Kind::empty, .line = {}, .next_seq = next_seq_};
  const std::uint64_t oldest = oldest_seq();
  if (cursor < oldest) return {.kind = Reading::Kind::overrun, .line = {}, .next_seq = oldest};
  return {.kind = Reading::Kind::record,
          .line = records_[static_cast<std::size_t>(cursor - oldest)].line,
          .next_seq = cursor + 1};
}

void KernelLogRing::clear() {
  records_.clear();
  used_bytes_ = 0;
  next_seq_ = 0;
}

}  // namespace tundish::lab
