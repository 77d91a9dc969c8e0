#include "control.h"

#include <cstdlib>

#include "interception.h"
#include "kernel.h"
#include "queue_handle.h"
#include "request.h"
#include "text.h"

namespace httpapi_double {
namespace {

std::string Bytes(const char* hex) {
  std::string bytes;
  for (; hex[0] != 0 && hex[1] != 0; hex += 2) {
    const char byte[] = {hex[0], hex[1], 0};
    bytes += static_cast<char>(std::strtol(byte, nullptr, 16));
  }
  return bytes;
}

}  // namespace

std::string Report() {
  Kernel& kernel = Kernel::Get();
  size_t urls = 0;
  for (const auto& [id, group] : kernel.groups) urls += group.urls.size();
  size_t calls = 0;
  for (const HandleRef& handle : kernel.handles) calls += handle->pending();
  size_t requests = 0;
  for (const auto& [id, request] : kernel.requests) requests += request->owner != nullptr ? 1 : 0;
  const auto member = [](const char* name, size_t value) {
    return JsonText(name) + ':' + std::to_string(value);
  };
  std::string imports;
  for (const std::string& name : ImportedFunctions()) {
    if (!imports.empty()) imports += ',';
    imports += JsonText(name);
  }
  return "{\"open\":{" + member("initialized", kernel.initialized) + ',' +
         member("sessions", kernel.sessions.size()) + ',' + member("groups", kernel.groups.size()) +
         ',' + member("urls", urls) + ',' + member("queues", kernel.handles.size()) + ',' +
         member("calls", calls) + ',' + member("requests", requests) + ',' +
         member("tokens", kernel.open_tokens()) + ',' + member("files", kernel.CountFiles()) +
         "}," + member("faultsLeft", kernel.faults.left()) + ",\"imports\":[" + imports + "]," +
         kernel.ledger.Json() + '}';
}

std::string HandleControl(const std::string& target) {
  Kernel& kernel = Kernel::Get();
  const auto rest = [&target](std::string_view command) -> const char* {
    return target.starts_with(command) ? target.c_str() + command.size() : nullptr;
  };
  if (const char* plans = rest("/fault/"); plans != nullptr) {
    return kernel.faults.Set(plans) ? "true" : "false";
  }
  if (const char* ms = rest("/slow/"); ms != nullptr) {
    kernel.set_slow_ms(static_cast<uint32_t>(std::atoi(ms)));
    return "true";
  }
  if (const char* hex = rest("/certificate/"); hex != nullptr) {
    kernel.client_certificate = Bytes(hex);
    return "true";
  }
  if (const char* hex = rest("/asked/"); hex != nullptr) {
    kernel.answers_asking = std::string_view(hex) != "never";
    kernel.asked_certificate = kernel.answers_asking ? Bytes(hex) : std::string();
    return "true";
  }
  if (target == "/forget") {
    kernel.ledger.Clear();
    return "true";
  }
  return target == "/report" ? Report() : "null";
}

}  // namespace httpapi_double
