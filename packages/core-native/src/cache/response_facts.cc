#include "cache/response_facts.h"

#include <algorithm>

#include "base/ascii.h"
#include "semantics/http_date.h"
#include "semantics/list_members.h"

namespace httpsys::cache {
namespace {

void AddDate(std::string_view value, int64_t now_s, FieldDate* date) {
  if (date->state == FieldDate::State::kInvalid) return;
  const std::optional<int64_t> seconds =
      semantics::ParseHttpDate(value, now_s, semantics::DateCase::kAny);
  if (!seconds.has_value()) {
    date->state = FieldDate::State::kInvalid;
    return;
  }
  date->seconds = date->is_valid() ? std::min(date->seconds, *seconds) : *seconds;
  date->state = FieldDate::State::kValid;
}

// The first member of the first line counts (RFC 9111, section 5.1).
uint32_t ReadAge(std::string_view value) {
  uint32_t seconds = 0;
  const std::string_view first = semantics::Trim(value.substr(0, value.find(',')));
  return semantics::ParseDeltaSeconds(first, &seconds) ? seconds : 0;
}

// Adds a field's restrictions, but neither lifetimes nor permissions, to those of another field.
void AddRestrictions(const semantics::CacheControl& from, semantics::CacheControl* to) {
  if (from.no_store) {
    // must-understand overrides only the no-store of its own field.
    to->no_store = true;
    to->must_understand = false;
  } else if (!to->no_store) {
    to->must_understand = to->must_understand || from.must_understand;
  }
  // Drops the field names of a qualified directive, which makes it stricter.
  if (from.is_private.is_present()) to->is_private.Add();
  if (from.no_cache.is_present()) to->no_cache.Add();
  to->must_revalidate = to->must_revalidate || from.must_revalidate;
  to->proxy_revalidate = to->proxy_revalidate || from.proxy_revalidate;
  to->no_transform = to->no_transform || from.no_transform;
  to->is_garbled = to->is_garbled || from.is_garbled;
}

// Applies the directives of CDN-Cache-Control to `control`, which has those of Cache-Control so
// far, and to `http_sys_control`.
void AddTargeted(const semantics::TargetedCacheControl& targeted, ResponseFacts* facts) {
  facts->is_targeted = targeted.is_usable();
  facts->control.is_garbled = facts->control.is_garbled || targeted.is_broken();
  facts->http_sys_control = facts->control;
  if (!facts->is_targeted) return;
  const semantics::CacheControl& named = targeted.directives();
  AddRestrictions(named, &facts->http_sys_control);
  const semantics::CacheControl plain = facts->control;
  facts->control = named;
  if (!named.max_age.is_valid() && !named.s_maxage.is_valid()) {
    AddRestrictions(plain, &facts->control);
  }
}

}  // namespace

ResponseFacts ReadResponse(uint16_t status, std::span<const http1::HeaderLine> lines,
                           int64_t now_s) {
  ResponseFacts facts;
  semantics::TargetedCacheControl targeted;
  bool has_age = false;
  facts.status = status;
  for (const auto& [name, value] : lines) {
    if (EqualsIgnoringCase(name, "cache-control")) {
      semantics::ReadCacheControl(value, &facts.control);
    } else if (EqualsIgnoringCase(name, "cdn-cache-control")) {
      targeted.AddLine(value);
    } else if (EqualsIgnoringCase(name, "expires")) {
      AddDate(value, now_s, &facts.expires);
    } else if (EqualsIgnoringCase(name, "date")) {
      AddDate(value, now_s, &facts.date);
    } else if (EqualsIgnoringCase(name, "last-modified")) {
      AddDate(value, now_s, &facts.last_modified);
    } else if (EqualsIgnoringCase(name, "age")) {
      if (!has_age) facts.age_s = ReadAge(value);
      has_age = true;
    } else if (EqualsIgnoringCase(name, "vary")) {
      facts.vary.Add(value);
      facts.has_vary = true;
    } else if (EqualsIgnoringCase(name, "etag")) {
      facts.has_etag = true;
    } else if (EqualsIgnoringCase(name, "set-cookie") || EqualsIgnoringCase(name, "set-cookie2")) {
      facts.has_set_cookie = true;
    } else if (EqualsIgnoringCase(name, "pragma")) {
      facts.has_pragma = true;
    } else if (EqualsIgnoringCase(name, "content-type")) {
      facts.has_content_type = true;
    }
  }
  AddTargeted(targeted, &facts);
  return facts;
}

}  // namespace httpsys::cache
