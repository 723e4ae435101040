#pragma once
// Lets the two MPI processes of a check over a pair find each other: one on each node, each started
// by its own agent, so that no text of a command and no shell crosses between nodes. They talk to
// this process manager over TCP, as MPICH's own talks to theirs; whatever wires an MPI job up is
// exchanged as keys and values here.
// Source: PMI-1 wire protocol, Flux RFC 13; MPICH src/pmi; spoken with MPICH 4.0.2; checked 2026-11
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish::agent {

/// Of all that the two ranks put here.
class PairBoard {
 public:
  static constexpr int ranks = 2;
  struct Answers {
    std::array<std::string, ranks> to;  ///< lines for each rank
    bool finalized = false;             ///< whoever asked is done
  };
  /// One line of one rank. An Error ends the job: the rank gave up, or speaks something else.
  Result<Answers> take(int rank, std::string_view line);

 private:
  /// Each rank on a node of its own: else MPICH would look for shared memory.
  std::map<std::string, std::string> values_ = {{"PMI_process_mapping", "(vector,(0,2,1))"}};
  std::array<bool, ranks> at_barrier_{};
};

struct PairOrder {
  int port = 0;
  std::string peer;                  ///< IPv4 address that rank 1 comes from; rank 0 is here
  Duration join_limit = seconds(45);  ///< for both to come
};

/// "18700,10.0.0.2"
Result<PairOrder> parse_pair_order(std::string_view target);
/// Until both have finalized. An Error when one does not come, or is gone before that.
Result<> serve_pair(const PairOrder& order);

}  // namespace tundish::agent
