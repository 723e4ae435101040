#pragma once
// The agent's eyes on the kernel log: every record once, across restarts of the agent, of the
// source and of the node; lost records and a lost source are told, never passed over.
#include <functional>
#include <memory>
#include <string>

#include "model/witness.hpp"
#include "runtime/agent/record_source.hpp"
#include "runtime/agent/storm_filter.hpp"

namespace tundish {

struct KernelLogOptions {
  std::string source = "kmsg";  ///< names it in witnesses
  StormLimits storm;
  int records_per_poll = 1000;  ///< so that a flood leaves the loop its turn
  Duration retry_first = milliseconds(100);
  Duration retry_longest = seconds(5);
};

/// Witnesses are at-least-once with an identity: store them and cursor() together, and drop an id
/// that is stored already. One thread.
class KernelLogReader {
 public:
  using Now = std::function<Instant()>;
  using OnWitness = std::function<void(Witness)>;

  /// An empty cursor is a first installation: it starts at the oldest record of this boot.
  KernelLogReader(std::unique_ptr<RecordSource> source, KernelLogCursor cursor, Now now,
                  KernelLogOptions options = {});

  /// Waits up to `wait` for records and hands over what they say. True: call again at once, there
  /// may be more.
  bool poll(Duration wait, const OnWitness& on_witness);
  /// Tells what a running storm window still counts; for the end of the program.
  void flush(const OnWitness& on_witness);
  /// Everything up to here was handed over.
  KernelLogCursor cursor() const;
  /// For a loop's poll; -1 while the source is away.
  int descriptor() const { return source_->descriptor(); }

 private:
  bool ensure_open(Duration wait, const OnWitness& on_witness);
  Duration bounded(Duration wait) const;
  void note_alive(const OnWitness& on_witness);
  void lose(const std::string& reason, const OnWitness& on_witness);
  bool read_batch(const OnWitness& on_witness);
  void handle(const std::string& bytes, const OnWitness& on_witness);
  bool is_new(std::int64_t seq, std::int64_t usec);
  void restart_numbering();
  void adopt_boot(const std::string& boot_id);
  Witness make_witness(WitnessKind kind, std::int64_t seq, const std::string& suffix) const;
  std::string source_name() const;
  void tell(std::vector<Witness> witnesses, const OnWitness& on_witness);

  std::unique_ptr<RecordSource> source_;
  KernelLogCursor at_;  ///< last record read, told or counted
  Now now_;
  KernelLogOptions options_;
  StormFilter storm_;
  bool first_install_;
  bool open_ = false;
  bool lost_told_ = false;
  bool broken_told_ = false;
  std::int64_t last_of_open_ = -1;  ///< last sequence number since the source was opened
  Duration retry_;
  Instant retry_at_;
};

}  // namespace tundish
