#pragma once
// A sighting with an identity: the same sighting told twice is one witness.
#include <string>

#include "model/kernel_event.hpp"

namespace tundish {

enum class WitnessKind {
  event,
  blind,        ///< records were lost before they could be read; take a snapshot
  source_lost,  ///< the log itself is gone; silence from here on means nothing
  source_back
};
inline std::span<const std::string_view> enum_names(WitnessKind) {
  static constexpr std::string_view names[] = {"event", "blind", "source_lost", "source_back"};
  return names;
}

struct Witness {
  std::string id;
  std::string node;
  std::string source;
  std::string boot_id;
  std::int64_t seq = 0;
  WitnessKind kind = WitnessKind::event;
  Provenance provenance = Provenance::kernel;
  Instant observed_at;
  std::int64_t kernel_usec = 0;
  std::int64_t repeat = 1;
  std::int64_t blind = 0;
  std::string reason;
  KernelEvent event;

  void fields(Fields& f) {
    f(1, "id", id, "boot_id/source/seq: told again after a restart it is the same witness");
    f(2, "node", node, "set by tundishd from the agent's own connection; empty at the agent");
    f(3, "source", source, "where it was read, for example kmsg");
    f(4, "boot_id", boot_id, "boot of the kernel that numbered the record");
    f(5, "seq", seq, "sequence number in that boot; orders witnesses of one source");
    f(6, "kind", kind, "event, blind, source_lost or source_back");
    f(7, "provenance", provenance, "who could have written it");
    f(8, "observed_at", observed_at, "when the agent read it, on its project clock");
    f(9, "kernel_usec", kernel_usec, "microseconds since boot; drifts from wall time, orders only");
    f(10, "repeat", repeat, "sightings that this witness stands for, itself included");
    f(11, "blind", blind, "records lost, for kind blind");
    f(12, "reason", reason, "what happened to the source, for people");
    f(13, "event", event, "what the record says, for kind event");
  }
};

/// How far a log was read and stored: persisted by the agent together with its witnesses.
struct KernelLogCursor {
  std::string boot_id;
  std::int64_t seq = -1;
  std::int64_t kernel_usec = 0;
  int epoch = 0;

  void fields(Fields& f) {
    f(1, "boot_id", boot_id, "boot that the rest belongs to; empty: nothing was ever read");
    f(2, "seq", seq, "last record that was handed over; -1: none of this boot");
    f(3, "kernel_usec", kernel_usec, "its microseconds since boot");
    f(4, "epoch", epoch, "times the numbering restarted within the boot; part of the source");
  }
};

}  // namespace tundish
