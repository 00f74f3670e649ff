// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/stored_file.hpp>

#include <keel/policy/error.hpp>

#if KEEL_WITH_HDF5
#include <keel/impl/store/open_file.hpp>
#include <keel/policy/file_limit.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>

#include <hdf5.h>
#include <sys/mman.h>
#endif

namespace keel::residency::detail {

#if KEEL_WITH_HDF5

/// What is done with a file of HDF5, alone in this process and without HDF5's own messages, until its end.
class hdf5_access {
public:
  hdf5_access(std::string const& path, char const* doing) : path_(path), doing_(doing), alone_(turn()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  hdf5_access(hdf5_access const&) = delete;
  hdf5_access& operator=(hdf5_access const&) = delete;
  ~hdf5_access() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

  [[noreturn]] void fail(std::string const& what, std::string const& why, int code = 0) const {
    std::string const whose = what.empty() ? "the file " : what + " of the file ";
    throw error("residency", whose + path_ + " cannot be " + doing_, why,
                *doing_ == 'm' ? "Look after the folder and its disk, or name another one" : "Name another file", code);
  }
  /// For a call of HDF5 that returns something negative if it fails.
  template <class Result>
  Result checked(Result result, std::string const& what) const {
    if (result >= 0) return result;
    std::string text;
    auto const innermost = [](unsigned n, H5E_error2_t const* e, void* to) -> herr_t {
      if (n == 0 && e->desc != nullptr) *static_cast<std::string*>(to) = e->desc;
      return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &text);
    int code = 0;
    std::string const number = "errno = ", begin = "error message = '";
    if (auto const at = text.find(number); at != text.npos) code = std::atoi(text.c_str() + at + number.size());
    if (auto const at = text.find(begin); at != text.npos)
      text = text.substr(at + begin.size(), text.find('\'', at + begin.size()) - at - begin.size());
    fail(what, text.empty() ? "HDF5 does not say why" : text, code);
  }

private:
  static std::mutex& turn() {
    static std::mutex one;
    return one;
  }
  std::string const& path_;
  char const* doing_;
  std::lock_guard<std::mutex> alone_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// What HDF5 names by a number, closed at the end of the scope.
class hdf5_handle {
public:
  hdf5_handle(hid_t id, herr_t (*closes)(hid_t)) : id_(id), close_(closes) {}
  hdf5_handle(hdf5_handle const&) = delete;
  hdf5_handle& operator=(hdf5_handle const&) = delete;
  ~hdf5_handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  [[nodiscard]] herr_t close() { return close_(std::exchange(id_, -1)); }

private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// The type in a file, or -1: there is none of this size.
inline hid_t type_of(stored_type type, int bytes) {
  bool const is_signed = type == stored_type::integer;
  if (type == stored_type::opaque) return bytes > 0 ? H5Tcreate(H5T_OPAQUE, std::size_t(bytes)) : -1;
  if (type == stored_type::floating)
    return bytes == 4 ? H5Tcopy(H5T_NATIVE_FLOAT) : bytes == 8 ? H5Tcopy(H5T_NATIVE_DOUBLE) : -1;
  switch (bytes) {
  case 1: return H5Tcopy(is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8);
  case 2: return H5Tcopy(is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16);
  case 4: return H5Tcopy(is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32);
  case 8: return H5Tcopy(is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64);
  default: return -1;
  }
}

inline hid_t type_of_texts(std::span<std::string const> texts) {
  std::size_t longest = 1;
  bool is_ascii = true;
  for (std::string const& text : texts) {
    longest = std::max(longest, text.size());
    for (char const c : text) is_ascii = is_ascii && static_cast<unsigned char>(c) < 128;
  }
  hid_t const type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, longest);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  if (!is_ascii) H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

/// Writes attributes of an object, which is `whose` in messages.
inline void put_attributes(hdf5_access const& access, hid_t object, std::string const& whose,
                           std::vector<stored_attribute> const& attributes) {
  auto const put = [&](std::string const& name, hid_t type, hid_t in_memory, hsize_t const* count, void const* data) {
    std::string const what = "the attribute " + name + " of " + whose;
    hdf5_handle const space(count != nullptr ? H5Screate_simple(1, count, nullptr) : H5Screate(H5S_SCALAR), H5Sclose);
    access.checked(hid_t{space}, what);
    hdf5_handle const made(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    access.checked(hid_t{made}, what);
    if (count == nullptr || *count != 0) access.checked(H5Awrite(made, in_memory, data), what);
  };
  auto const put_texts = [&](std::string const& name, std::span<std::string const> texts, hsize_t const* count) {
    hdf5_handle const type(type_of_texts(texts), H5Tclose);
    std::size_t const each = H5Tget_size(type);
    std::string all;
    for (std::string const& text : texts) all.append(text).append(each - text.size(), '\0');
    put(name, type, type, count, all.data());
  };
  for (auto const& a : attributes) {
    hsize_t count = 0;
    if (auto const* text = a.value.get_if<std::string>()) {
      put_texts(a.name, {text, 1}, nullptr);
    } else if (auto const* texts = a.value.get_if<std::vector<std::string>>()) {
      put_texts(a.name, *texts, &(count = texts->size()));
    } else if (auto const* numbers = a.value.get_if<std::vector<double>>()) {
      put(a.name, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, &(count = numbers->size()), numbers->data());
    } else if (auto const* integers = a.value.get_if<std::vector<std::int64_t>>()) {
      put(a.name, H5T_NATIVE_INT64, H5T_NATIVE_INT64, &(count = integers->size()), integers->data());
    }
  }
}

/// The bytes of a dataset; throws unless they can be counted, and its content has so many.
inline std::int64_t require_extents(hdf5_access const& access, stored_dataset const& d) {
  std::int64_t left = (std::int64_t{1} << 56) / std::max(d.element_bytes, 1);
  for (std::int64_t const n : d.extents) {
    if (n < 0 || n > left) access.fail(d.path, n < 0 ? "an extent is negative" : "a file has less than 2^56 bytes");
    left /= std::max<std::int64_t>(n, 1);
  }
  if (!d.content.empty() && std::int64_t(d.content.size()) != d.bytes())
    access.fail(d.path, "its content has " + policy::counted(std::int64_t(d.content.size()), "byte") + ", and not " +
                            std::to_string(d.bytes()));
  return d.bytes();
}

/// Makes a dataset in the file, and fills in its offset.
inline void put_dataset(hdf5_access const& access, hid_t file, hid_t with_groups, stored_dataset& d) {
  hdf5_handle const type(type_of(d.type, d.element_bytes), H5Tclose);
  if (type < 0) access.fail(d.path, "no element has " + policy::counted(d.element_bytes, "byte"));
  std::vector<hsize_t> const extents(d.extents.begin(), d.extents.end());
  hdf5_handle const space(extents.empty() ? H5Screate(H5S_SCALAR)
                                          : H5Screate_simple(int(extents.size()), extents.data(), nullptr),
                          H5Sclose);
  access.checked(hid_t{space}, d.path);
  hdf5_handle const how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(how, H5D_CONTIGUOUS);
  H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
  hdf5_handle const made(H5Dcreate2(file, d.path.c_str(), type, space, with_groups, how, H5P_DEFAULT), H5Dclose);
  access.checked(hid_t{made}, d.path);
  put_attributes(access, made, d.path, d.attributes);
  haddr_t const at = H5Dget_offset(made);
  d.offset = at == HADDR_UNDEF ? -1 : std::int64_t(at);
  if (d.offset < 0 && d.bytes() != 0) access.fail(d.path, "HDF5 does not say where its bytes are");
}

/// How files are opened: the format of HDF5 1.8; large datasets begin at pages; all of a file closes at once; no locks,
/// which some file systems have not: `folder_lock` does that.
inline hid_t file_access() {
  hid_t const how = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 2)
  H5Pset_libver_bounds(how, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
#else
  H5Pset_libver_bounds(how, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
#endif
  H5Pset_fapl_sec2(how);
  H5Pset_alignment(how, small_dataset, 4096);
  H5Pset_fclose_degree(how, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 11, 0))
  H5Pset_file_locking(how, false, true);
#endif
  return how;
}

KEEL_INLINE bool has_hdf5() { return true; }

/// Throws the reason of a call of the system that failed.
inline void require_done(hdf5_access const& access, int code) {
  if (code != 0) access.fail("", std::strerror(code), code);
}

/// Copies a file without its holes into one that is empty.
inline void copy(hdf5_access const& access, int from, policy::open_file const& to) {
  off_t const size = ::lseek(from, 0, SEEK_END);
  std::vector<std::byte> buffer(1 << 16);
  for (off_t at = 0; (at = ::lseek(from, at, SEEK_DATA)) >= 0;) {
    ssize_t const n = ::pread(from, buffer.data(), buffer.size(), at);
    require_done(access, policy::code_of(n));
    require_done(access, to.put(buffer.data(), std::size_t(n), at));
    at += n;
  }
  require_done(access, policy::code_of(::ftruncate(to.number, size)));
}

/// Makes all of the file but the bytes of its datasets, in memory: HDF5 (1.10) crashes at the end of a process in which
/// a disk took not all of a file.
inline void put_structure(hdf5_access const& access, std::string const& path, policy::open_file const& memory,
                          stored_file& what) {
  hdf5_handle const how(file_access(), H5Pclose), with_groups(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(with_groups, 1);
  hdf5_handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, how), H5Fclose);
  access.checked(hid_t{file}, "");
  void* number = nullptr;
  access.checked(H5Fget_vfd_handle(file, H5P_DEFAULT, &number), "");
  int& written = *static_cast<int*>(number);
  copy(access, written, memory);
  require_done(access, policy::code_of(::dup2(memory.number, written)));
  {
    hdf5_handle const root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
    put_attributes(access, root, "/", what.attributes);
  }
  for (auto const& [name, attributes] : what.groups) {
    hdf5_handle there(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose);
    if (there < 0) {
      hdf5_handle const made(H5Gcreate2(file, name.c_str(), with_groups, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
      put_attributes(access, access.checked(hid_t{made}, name), name, attributes);
    } else {
      put_attributes(access, there, name, attributes);
    }
  }
  for (auto& each : what.datasets) put_dataset(access, file, with_groups, each);
  access.checked(file.close(), "");
}

KEEL_INLINE void make_file(std::string const& path, stored_file& what) {
  policy::file_limit_refuses const longer;
  hdf5_access const access(path, "made");
  std::int64_t bytes = 1 << 20;
  for (auto const& each : what.datasets) bytes += require_extents(access, each) + 8192;
  policy::open_file const file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  require_done(access, file.code);
  try {
    // Refused here, or HDF5 fails with the file in memory.
    require_done(access, policy::code_of(::ftruncate(file.number, off_t(bytes))));
    require_done(access, policy::code_of(::ftruncate(file.number, 0)));
    policy::open_file const memory(::memfd_create("keel", MFD_CLOEXEC));
    require_done(access, memory.code);
    put_structure(access, path, memory, what);
    copy(access, memory.number, file);
    for (auto const& each : what.datasets)
      require_done(access, file.put(each.content.data(), each.content.size(), off_t(each.offset)));
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
}

#else

KEEL_INLINE bool has_hdf5() { return false; }
KEEL_INLINE void make_file(std::string const& path, stored_file&) { require_hdf5(path); }

#endif

KEEL_INLINE void require_hdf5(std::string const& path) {
  if (!has_hdf5())
    throw error("residency", "the file " + path + " is one of HDF5", "this keel was built without HDF5",
                "Install libhdf5-dev, and configure keel with -Dhdf5=enabled");
}

} // namespace keel::residency::detail
