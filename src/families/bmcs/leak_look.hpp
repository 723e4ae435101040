#pragma once
// One walk through the documents of a BMC, from its chassis to every detector of leaks.
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/node_readings.hpp"
#include "ports/drivers.hpp"
#include "ports/wire.hpp"

namespace tundish::families {

/// Where detectors are listed, and what they belong to.
struct LeakCollection {
  std::string path;
  std::string chassis;
};

class LeakLook : public std::enable_shared_from_this<LeakLook> {
 public:
  /// Sends GET to a path of the BMC.
  using Ask = std::function<void(const std::string& path, Wire::Done done)>;
  using Done = std::function<void(Result<BmcReading>, std::vector<LeakCollection>)>;

  LeakLook(Ask ask, Done done) : ask_(std::move(ask)), done_(std::move(done)) {}
  /// `known`: where the last look found them; empty: looked for from the chassis on.
  void start(std::vector<LeakCollection> known);

 private:
  enum class Kind { chassis_list, chassis, thermal, detection, collection, detector };
  struct Step {
    Kind kind = Kind::chassis;
    std::string path;
    std::string chassis;
  };
  void next();
  void take(const Step& step, const Result<HttpResponse>& response);
  Result<> read(const Step& step, const std::string& body);
  Result<> read_list(const Step& step, const std::string& body, Kind member);
  void end(Result<BmcReading> reading);

  Ask ask_;
  Done done_;
  std::deque<Step> steps_;
  std::vector<LeakCollection> found_;
  BmcReading reading_;
  bool remembered_ = false;  ///< where to look is from the last look: it may have changed
  int asked_ = 0;
};

}  // namespace tundish::families
