#include "families/fabrics/driver_ufm.hpp"

#include <algorithm>
#include <utility>

#include "codec/json.hpp"
#include "families/fabrics/fabric_item.hpp"

namespace tundish::families {

using fabrics::FabricItem;
using fabrics::FabricStep;

struct UfmManager::Shared {
  Wire& wire;
  Scheduler& scheduler;
  Authorization authorization;
  /// Created, and not yet shown by UFM, which can take longer than an hour. Per fabric: PKeys as
  /// UFM writes them. Not created again meanwhile.
  std::map<std::string, std::set<std::string>> unseen;
};

namespace {

using Shared = std::shared_ptr<UfmManager::Shared>;

constexpr Duration pause = milliseconds(100);  ///< between two reads
constexpr Duration settle_limit = seconds(2);  ///< before an accepted change is sent again
constexpr Duration call_limit = seconds(10);
constexpr int round_limit = 3;

const FabricItem& item() { return *fabrics::find_fabric_item("ufm"); }

class Session : public std::enable_shared_from_this<Session> {
 public:
  template <class T>
  using Then = std::function<void(Result<T>)>;

  Session(Shared shared, FabricRef ref, Instant deadline)
      : shared_(std::move(shared)), ref_(std::move(ref)), deadline_(deadline) {}

  Instant now() const { return shared_->scheduler.now(); }
  Instant deadline() const { return deadline_; }
  const FabricRef& ref() const { return ref_; }
  std::set<std::string>& unseen() { return shared_->unseen[ref_.name]; }
  void wait(std::function<void()> task) { shared_->scheduler.at(now() + pause, std::move(task)); }

  /// `call` is "METHOD /path".
  void send(const std::string& call, const std::string& body, Then<HttpResponse> then) {
    if (deadline_ <= now()) {
      return then(make_error(Code::timeout, name() + ": no time left for " + call));
    }
    HttpRequest request;
    request.method = call.substr(0, call.find(' '));
    request.url = ref_.management_url + call.substr(call.find(' ') + 1);
    request.body = body;
    if (!body.empty()) request.headers["content-type"] = "application/json";
    const std::string login = shared_->authorization ? shared_->authorization(ref_.name) : "";
    if (!login.empty()) request.headers["authorization"] = login;
    // A lost answer must leave time to read whether it happened.
    const Duration limit{std::min((deadline_ - now()).us / 2, call_limit.us)};
    shared_->wire.start(std::move(request), limit, std::move(then));
  }

  void read(Then<FabricSeen> then) {
    get("GET /resources/pkeys?guids_data=true",
        [self = shared_from_this(), then = std::move(then)](Result<std::string> guids) {
          if (!guids) return then(guids.error());
          self->get("GET /resources/pkeys?qos_conf=true",
                    [self, then, guids = std::move(*guids)](Result<std::string> qos) {
                      if (!qos) return then(qos.error());
                      const std::string text =
                          "{\"guids_data\": " + guids + ", \"qos_conf\": " + *qos + "}";
                      then(item().parse(text, self->ref_.ownership));
                    });
        });
  }

  std::string name() const { return "fabric " + ref_.name; }
  Error failed(const std::string& what) const {
    return make_error(Code::unavailable, name() + ": " + what).about("fabric/" + ref_.name);
  }

 private:
  void get(const std::string& call, Then<std::string> then) {
    send(call, "", [self = shared_from_this(), call, then](Result<HttpResponse> response) {
      if (!response) return then(Error(response.error()).wrap(self->name()));
      if (response->status != 200) {
        return then(self->failed(call + " answered " + std::to_string(response->status)));
      }
      // Each answer is checked alone, so that one cannot close the other's braces.
      const auto json = JsonValue::parse(response->body);
      if (!json) return then(Error(json.error()).wrap(self->name() + ": " + call));
      then(json->render());
    });
  }

  Shared shared_;
  FabricRef ref_;
  Instant deadline_;
};

std::string pkey_of(const FabricStep& step) {
  const auto body = JsonValue::parse(step.text);
  return body ? body->at("pkey").as_text().value_or("") : "";
}

bool creates(const FabricStep& step) { return step.call == "POST /resources/pkeys/add"; }

/// One call of apply. A round sends what a read shows to be missing; then reads until it shows.
class UfmChange : public std::enable_shared_from_this<UfmChange> {
 public:
  UfmChange(std::shared_ptr<Session> session, FabricState desired, FabricManager::Done done)
      : session_(std::move(session)), desired_(std::move(desired)), done_(std::move(done)) {}

  void begin() {
    const auto text = item().render(desired_, "", session_->ref().ownership);
    if (!text) return done_(text.error());
    look();
  }

 private:
  void look() {
    session_->read([self = shared_from_this()](Result<FabricSeen> seen) {
      if (seen) return self->compare(*seen);
      // Time ran out after UFM took the change: say what is missing, not that time ran out.
      if (self->round_ > 0 && seen.error().code == Code::timeout) return self->give_up();
      self->done_(seen.error());
    });
  }

  void compare(const FabricSeen& seen) {
    for (const auto& partition : desired_.partitions) {
      const auto& foreign = seen.foreign_pkeys;
      if (std::find(foreign.begin(), foreign.end(), partition.pkey) == foreign.end()) continue;
      return done_(make_error(Code::conflict, session_->name() + ": the PKey of " + partition.name +
                                                  " is somebody else's in UFM")
                       .about("partition/" + partition.name)
                       .with_remedy("take the PKey out of the fabric's pool"));
    }
    // What UFM shows now has to be created again if it ever goes.
    const auto left = item().steps(seen.own, desired_);
    if (!left) return done_(left.error());
    std::set<std::string> missing;
    for (const auto& step : *left) {
      if (creates(step)) missing.insert(pkey_of(step));
    }
    std::erase_if(session_->unseen(), [&](const auto& pkey) { return !missing.contains(pkey); });
    steps_ = *left;
    if (steps_.empty()) return done_({});
    if (session_->now() < read_until_ && !fault_) {
      return session_->wait([self = shared_from_this()] { self->look(); });
    }
    if (round_ == round_limit || session_->deadline() <= session_->now() + pause * 5) {
      return give_up();
    }
    ++round_;
    fault_.reset();
    next_ = 0;
    run_next();
  }

  /// In order, and not beyond a step that failed: whoever leaves has left before anybody joins.
  void run_next() {
    while (next_ < steps_.size() && creates(steps_[next_]) &&
           session_->unseen().contains(pkey_of(steps_[next_]))) {
      ++next_;
    }
    if (next_ == steps_.size()) {
      const Instant last = session_->deadline() - pause * 5;
      read_until_ = std::min(session_->now() + settle_limit, last);
      return look();
    }
    const FabricStep& step = steps_[next_];
    session_->send(step.call, step.text,
                   [self = shared_from_this()](Result<HttpResponse> response) {
                     self->took(std::move(response));
                   });
  }

  void took(Result<HttpResponse> response) {
    const FabricStep& step = steps_[next_];
    const bool exists =
        response && creates(step) &&
        (response->status == 409 ||
         (response->status == 400 && response->body.find("exist") != std::string::npos));
    const bool gone = response && step.call.starts_with("DELETE") && response->status == 404;
    if (response && (response->status / 100 == 2 || exists || gone)) {
      if (creates(step)) session_->unseen().insert(pkey_of(step));
      ++next_;
      return run_next();
    }
    // It may have happened all the same: only a read tells.
    fault_ = response ? session_->failed(step.what + ": UFM answered " +
                                         std::to_string(response->status) + " " +
                                         response->body.substr(0, 120))
                      : Error(response.error()).wrap(session_->name() + ": " + step.what);
    session_->wait([self = shared_from_this()] { self->look(); });
  }

  void give_up() {
    if (fault_) return done_(std::move(*fault_));
    const bool hidden = std::all_of(steps_.begin(), steps_.end(), [&](const FabricStep& step) {
      return session_->unseen().contains(pkey_of(step));
    });
    Error error = session_->failed(
        hidden ? "UFM took the partition but does not show it yet: " + steps_.front().what
               : "UFM took the change but does not show it: " + steps_.front().what);
    if (hidden) error.retry_after = minutes(1);
    error.remedy = hidden ? "it is not created again; UFM may need an hour to show it"
                          : "see UFM's log for that PKey";
    done_(std::move(error));
  }

  std::shared_ptr<Session> session_;
  FabricState desired_;
  FabricManager::Done done_;
  std::vector<FabricStep> steps_;
  std::size_t next_ = 0;
  int round_ = 0;
  Instant read_until_;
  std::optional<Error> fault_;
};

}  // namespace

UfmManager::UfmManager(Wire& wire, Scheduler& scheduler, Authorization authorization)
    : shared_(new Shared{wire, scheduler, std::move(authorization), {}}) {}

void UfmManager::apply(const FabricRef& ref, const FabricState& desired, Duration limit,
                       Done done) {
  auto session = std::make_shared<Session>(shared_, ref, shared_->scheduler.now() + limit);
  std::make_shared<UfmChange>(std::move(session), desired, std::move(done))->begin();
}

void UfmManager::read(const FabricRef& ref, Duration limit, ReadDone done) {
  const auto session = std::make_shared<Session>(shared_, ref, shared_->scheduler.now() + limit);
  session->read([session, done = std::move(done)](Result<FabricSeen> seen) {
    if (!seen) return done(seen.error());
    FabricReading reading;
    reading.seen = std::move(*seen);
    reading.at = session->now();
    done(std::move(reading));
  });
}

}  // namespace tundish::families
