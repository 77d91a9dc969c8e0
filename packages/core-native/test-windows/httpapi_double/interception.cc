#include "interception.h"

#include <cstring>
#include <mutex>

#include "kernel.h"
#include "queue_handle.h"
#include "text.h"

namespace httpapi_double {
namespace {

std::set<std::string> imported;
std::set<HMODULE> intercepted;

HANDLE WINAPI OnCreateIoCompletionPort(HANDLE file, HANDLE port, ULONG_PTR key, DWORD threads) {
  {
    Kernel& kernel = Kernel::Get();
    const std::lock_guard lock(kernel.mutex);
    if (const HandleRef handle = kernel.FindHandle(file); handle != nullptr) {
      return handle->Associate(port, key, threads);
    }
  }
  return CreateIoCompletionPort(file, port, key, threads);
}

BOOL WINAPI OnSetFileCompletionNotificationModes(HANDLE file, UCHAR modes) {
  {
    Kernel& kernel = Kernel::Get();
    const std::lock_guard lock(kernel.mutex);
    if (const HandleRef handle = kernel.FindHandle(file); handle != nullptr) {
      handle->set_modes(modes);
      return TRUE;
    }
  }
  return SetFileCompletionNotificationModes(file, modes);
}

BOOL WINAPI OnCancelIoEx(HANDLE file, LPOVERLAPPED overlapped) {
  {
    Kernel& kernel = Kernel::Get();
    const std::lock_guard lock(kernel.mutex);
    if (const HandleRef handle = kernel.FindHandle(file); handle != nullptr) {
      if (handle->Cancel(overlapped)) return TRUE;
      SetLastError(ERROR_NOT_FOUND);
      return FALSE;
    }
  }
  return CancelIoEx(file, overlapped);
}

FARPROC WINAPI OnGetProcAddress(HMODULE module, LPCSTR name) {
  const FARPROC function = GetProcAddress(module, name);
  // Ordinals are small numbers in place of a name.
  if (function != nullptr && reinterpret_cast<ULONG_PTR>(name) > 0xffff &&
      std::strncmp(name, "Http", 4) == 0) {
    Kernel& kernel = Kernel::Get();
    const std::lock_guard lock(kernel.mutex);
    if (const FaultPlan::Fault fault = kernel.faults.Take("GetProcAddress"); fault.code != 0) {
      SetLastError(fault.code);
      return nullptr;
    }
    imported.insert(name);
  }
  return function;
}

struct Replacement {
  const char* name;
  const void* function;
};

const void* ReplacementOf(const char* name) {
  static const Replacement kReplacements[] = {
      {"CreateIoCompletionPort", reinterpret_cast<const void*>(&OnCreateIoCompletionPort)},
      {"SetFileCompletionNotificationModes",
       reinterpret_cast<const void*>(&OnSetFileCompletionNotificationModes)},
      {"CancelIoEx", reinterpret_cast<const void*>(&OnCancelIoEx)},
      {"GetProcAddress", reinterpret_cast<const void*>(&OnGetProcAddress)},
  };
  for (const Replacement& replacement : kReplacements) {
    if (std::strcmp(replacement.name, name) == 0) return replacement.function;
  }
  return nullptr;
}

void Replace(IMAGE_THUNK_DATA* slot, const void* function) {
  DWORD protection = 0;
  if (VirtualProtect(slot, sizeof *slot, PAGE_READWRITE, &protection) == 0) return;
  slot->u1.Function = reinterpret_cast<ULONG_PTR>(function);
  VirtualProtect(slot, sizeof *slot, protection, &protection);
}

void InterceptLibrary(char* base, const IMAGE_IMPORT_DESCRIPTOR& library, bool is_this) {
  if (library.OriginalFirstThunk == 0) return;
  auto* names = reinterpret_cast<IMAGE_THUNK_DATA*>(base + library.OriginalFirstThunk);
  auto* slots = reinterpret_cast<IMAGE_THUNK_DATA*>(base + library.FirstThunk);
  for (; names->u1.AddressOfData != 0; ++names, ++slots) {
    if (IMAGE_SNAP_BY_ORDINAL(names->u1.Ordinal)) continue;
    const auto* name = reinterpret_cast<const char*>(
        reinterpret_cast<IMAGE_IMPORT_BY_NAME*>(base + names->u1.AddressOfData)->Name);
    if (is_this) {
      imported.insert(name);
    } else if (const void* function = ReplacementOf(name); function != nullptr) {
      Replace(slots, function);
    }
  }
}

}  // namespace

void InterceptImportsOf(const void* caller) {
  HMODULE module = nullptr;
  const DWORD flags =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (GetModuleHandleExA(flags, static_cast<const char*>(caller), &module) == 0) return;
  if (!intercepted.insert(module).second) return;
  char* base = reinterpret_cast<char*>(module);
  const auto* dos = reinterpret_cast<IMAGE_DOS_HEADER*>(base);
  const auto* headers = reinterpret_cast<IMAGE_NT_HEADERS*>(base + dos->e_lfanew);
  const IMAGE_DATA_DIRECTORY& imports =
      headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
  if (imports.VirtualAddress == 0) return;
  auto* library = reinterpret_cast<IMAGE_IMPORT_DESCRIPTOR*>(base + imports.VirtualAddress);
  for (; library->Name != 0; ++library) {
    InterceptLibrary(base, *library, EqualsIgnoringCase(base + library->Name, "httpapi.dll"));
  }
}

const std::set<std::string>& ImportedFunctions() { return imported; }

}  // namespace httpapi_double
