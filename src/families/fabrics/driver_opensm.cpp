#include "families/fabrics/driver_opensm.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "families/fabrics/fabric_item.hpp"
#include "families/fabrics/opensm_parts/partition_text.hpp"
#include "families/fabrics/opensm_parts/remote.hpp"
#include "families/fabrics/opensm_parts/withdrawal.hpp"
#include "families/fabrics/parts/rules.hpp"

namespace tundish::families {
namespace {

using fabrics::FabricItem;
using fabrics::PortFault;
using fabrics::RemoteFile;
using fabrics::RemoteManager;
using fabrics::Sweep;

const FabricItem& item() { return *fabrics::find_fabric_item("opensm"); }

/// One call of apply: stage by stage, each a file that is tried, put in place and seen to work.
class Change : public std::enable_shared_from_this<Change> {
 public:
  Change(RemoteManager remote, FabricState desired, FabricManager::Done done)
      : remote_(std::move(remote)), desired_(std::move(desired)), done_(std::move(done)) {}

  void begin() {
    const auto accepted = item().accept(desired_);
    if (!accepted) return done_(accepted.error());
    const auto owned = fabrics::check_ownership(desired_, remote_.ref().ownership);
    if (!owned) return done_(owned.error());
    next_stage();
  }

 private:
  /// Reads the file anew each time: somebody else may have written in between.
  void next_stage() {
    remote_.read_file([self = shared_from_this()](Result<RemoteFile> file) {
      if (!file) return self->done_(file.error());
      self->before_ = std::move(*file);
      self->plan();
    });
  }

  void plan() {
    const auto& ownership = remote_.ref().ownership;
    const auto seen = item().parse(before_.text, ownership);
    if (!seen) return done_(seen.error());
    stage_ = desired_;
    const auto steps = item().steps(seen->own, desired_);
    if (!steps) return done_(steps.error());
    if (!steps->empty()) {
      const auto first = item().parse(steps->front().text, ownership);
      if (!first) return done_(first.error());
      stage_ = first->own;
      // One that nobody is in yet is written with its first member.
      if (!(stage_ == desired_)) {
        std::erase_if(stage_.partitions,
                      [](const IbPartitionState& partition) { return partition.members.empty(); });
      }
    }
    auto text = item().render(stage_, before_.text, ownership);
    if (!text) return done_(Error(text.error()).wrap("fabric " + remote_.ref().name));
    text_ = std::move(*text);
    settle_by_ = remote_.deadline();
    if (before_.sum != "absent" && text_ == before_.text) return look_first();
    if (before_.is_tried && fabrics::is_withdrawal(before_.text, text_, ownership)) {
      return withdraw();
    }
    try_it();
  }

  /// The file is right already. A driver that died before opensm was told leaves it so.
  void look_first() {
    remote_.sweep([self = shared_from_this()](Result<Sweep> sweep) {
      if (!sweep) return self->done_(sweep.error());
      if (self->faults_of(*sweep).empty()) return self->done_({});
      self->reload();
    });
  }

  /// Who leaves waits for no canary: fewer lines of a file that passed one open nothing.
  void withdraw() {
    remote_.withdraw(text_, before_.sum, [self = shared_from_this()](Result<std::string> sum) {
      if (!sum) return self->done_(sum.error());
      self->sum_ = *sum;
      self->is_new_ = true;
      self->settle();
    });
  }

  void try_it() {
    remote_.try_on_canary(text_, stage_, [self = shared_from_this()](Result<std::string> sum) {
      if (!sum) return self->done_(sum.error());
      self->install(*sum);
    });
  }

  void install(const std::string& sum) {
    sum_ = sum;
    remote_.install(text_, sum, before_.sum, [self = shared_from_this()](Result<> put) {
      if (!put) return self->done_(put.error());
      self->is_new_ = true;
      self->reload();
    });
  }

  void reload() {
    remote_.reload([self = shared_from_this()](Result<> told) {
      if (!told) return self->done_(told.error());
      self->settle();
    });
  }

  void settle() {
    settle_by_ = std::min(remote_.deadline(), remote_.now() + remote_.site().settle_limit);
    look();
  }

  void look() {
    remote_.sweep([self = shared_from_this()](Result<Sweep> sweep) {
      if (!sweep) return self->done_(sweep.error());
      const auto faults = self->faults_of(*sweep);
      if (faults.empty()) return self->end_stage();
      // A look takes time by itself, so looking again at once does not spin.
      if (self->remote_.now() < self->settle_by_) return self->look();
      self->give_up(faults);
    });
  }

  std::vector<PortFault> faults_of(const Sweep& sweep) const {
    const auto rule = fabrics::read_default_rule(fabrics::read_partition_text(text_));
    return fabrics::find_faults(sweep, stage_, remote_.ref().ownership, rule.full_guids);
  }

  void end_stage() {
    if (stage_ == desired_) return done_({});
    next_stage();
  }

  /// The file before goes back, unless that would give a port back what it should lose, or there
  /// was none: without a file opensm makes every port a full member of the default partition.
  void give_up(const std::vector<PortFault>& faults) {
    const auto worst =
        std::max_element(faults.begin(), faults.end(),
                         [](const PortFault& a, const PortFault& b) { return rank(a) < rank(b); });
    Error error = make_error(Code::conflict, "fabric " + remote_.ref().name + ": " + worst->what)
                      .about("fabric/" + remote_.ref().name);
    if (faults.size() > 1) {
      error.what += " (and " + std::to_string(faults.size() - 1) + " more)";
    }
    const bool was_open = fabrics::read_partition_text(before_.text).rejected.size() > 0;
    if (!is_new_ || before_.sum == "absent" || was_open || rank(*worst) == 1) {
      error.remedy = "the new file stays in place: the old one allows more; see opensm's log";
      return done_(std::move(error));
    }
    put_back(std::move(error));
  }

  static int rank(const PortFault& fault) { return fault.is_open ? 2 : fault.is_extra ? 1 : 0; }

  void put_back(Error error) {
    remote_.install(
        before_.text, before_.sum, sum_,
        [self = shared_from_this(), error](const Result<>& put) mutable {
          if (!put) {
            error.remedy = "putting the old file back failed too: " + put.error().message();
            return self->done_(std::move(error));
          }
          self->remote_.reload([self, error](const Result<>& told) mutable {
            error.remedy = told
                               ? "the file before is in place again"
                               : "the file before is in place again, but " + told.error().message();
            self->done_(std::move(error));
          });
        });
  }

  RemoteManager remote_;
  FabricState desired_;
  FabricState stage_;
  FabricManager::Done done_;
  RemoteFile before_;
  std::string text_, sum_;
  Instant settle_by_;
  bool is_new_ = false;
};

}  // namespace

OpensmManager::OpensmManager(Exec& exec, Scheduler& scheduler, OpensmSite site)
    : exec_(exec), scheduler_(scheduler), site_(std::move(site)) {}

void OpensmManager::set_site(const std::string& fabric, OpensmSite site) {
  sites_[fabric] = std::move(site);
}

const OpensmSite& OpensmManager::site_of(const std::string& fabric) const {
  const auto own = sites_.find(fabric);
  return own == sites_.end() ? site_ : own->second;
}

void OpensmManager::apply(const FabricRef& ref, const FabricState& desired, Duration limit,
                          Done done) {
  RemoteManager remote(exec_, scheduler_, ref, site_of(ref.name), scheduler_.now() + limit);
  std::make_shared<Change>(std::move(remote), desired, std::move(done))->begin();
}

void OpensmManager::read(const FabricRef& ref, Duration limit, ReadDone done) {
  const auto remote = std::make_shared<RemoteManager>(exec_, scheduler_, ref, site_of(ref.name),
                                                      scheduler_.now() + limit);
  remote->read_file([remote, done = std::move(done)](Result<RemoteFile> file) {
    if (!file) return done(file.error());
    auto seen = item().parse(file->text, remote->ref().ownership);
    if (!seen) return done(seen.error());
    if (file->sum == "absent") seen->default_is_full = true;
    remote->sweep([remote, done, seen = std::move(*seen)](Result<Sweep> sweep) mutable {
      if (!sweep) return done(sweep.error());
      FabricReading reading;
      reading.seen = std::move(seen);
      reading.has_tables = true;
      reading.ports = std::move(sweep->ports);
      reading.cables = std::move(sweep->cables);
      reading.at = remote->now();
      done(std::move(reading));
    });
  });
}

void OpensmManager::find_paths(const FabricRef& ref, std::vector<FabricPath> asked, Duration limit,
                               PathsDone done) {
  const auto remote = std::make_shared<RemoteManager>(exec_, scheduler_, ref, site_of(ref.name),
                                                      scheduler_.now() + limit);
  remote->find_paths(std::move(asked),
                     [remote, done = std::move(done)](auto paths) { done(std::move(paths)); });
}

}  // namespace tundish::families
