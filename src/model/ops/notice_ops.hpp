#pragma once
// Notices to people: opened, delivered, acknowledged, resolved. What is due is durable, so that a
// restart neither forgets a page nor tells one twice.
#include "model/ops/common.hpp"

namespace tundish {

struct NoticeDraft {
  std::string object;  ///< kind/id
  NoticeClass notice_class = NoticeClass::hardware;
  NoticeRule rule;
  std::string runbook;
  std::string summary;
  bool drill = false;
};

/// One notice per object. An open one follows the class of its object, so that a fault recorded in
/// a window is told once the window is over and the fault is not.
OperationPtr open_notice(NoticeDraft draft);
/// Nobody is called any more; success without a change when there is none.
OperationPtr acknowledge_notice(std::string object, std::string by);
OperationPtr resolve_notice(std::string object);

enum class Delivery { arrived, failed };
/// How one try ended. After the last try the delivery is given up; a page is told again later.
OperationPtr record_delivery(Id<Notice> id, NoticeEvent event, Delivery delivery, std::string fault,
                             NoticeRules rules);

/// Seconds before the next try after `tries` failed ones.
Duration pause_after(const NoticeRules& rules, int tries);

}  // namespace tundish
