// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/read_file.hpp>

#include <keel/impl/store/stored_file.ipp>

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace keel::residency::detail {

#if KEEL_WITH_HDF5

/// Reads what a file holds, group by group.
class hdf5_reader {
public:
  hdf5_reader(hdf5_access const& access, std::int64_t size, std::span<std::string_view const> with_content)
      : access_(access), size_(size), with_content_(with_content) {}

  void read(hid_t group, std::string const& path, int depth) {
    auto attributes = attributes_of(group, path.empty() ? "/" : path);
    if (depth == 0) {
      found.attributes = std::move(attributes);
    } else if (!attributes.empty()) {
      found.groups.emplace_back(path, std::move(attributes));
    }
    std::vector<std::string> names;
    hsize_t begin = 0;
    auto const note = [](hid_t, char const* name, H5L_info_t const* link, void* to) -> herr_t {
      if (link->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(to)->emplace_back(name);
      return 0;
    };
    access_.checked(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &begin, note, &names), path);
    for (std::string const& name : names) {
      std::string const whole = path + '/' + name;
      if (++objects_ > 1000000 || depth > 50) access_.fail(whole, "groups are in each other, or far too many");
      hdf5_handle const object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
      H5I_type_t const kind = H5Iget_type(access_.checked(hid_t{object}, whole));
      if (kind == H5I_GROUP) read(object, whole, depth + 1);
      if (kind == H5I_DATASET) found.datasets.push_back(dataset(object, whole));
    }
  }

  stored_file found;

private:
  /// The bytes of so many elements; throws if the file has fewer.
  [[nodiscard]] std::size_t fitting(hssize_t count, std::size_t each, std::string const& whose) const {
    if (count > 0 && (each == 0 || std::uint64_t(count) > std::uint64_t(size_) / each))
      access_.fail(whose, "it is longer than the file");
    return std::size_t(count) * each;
  }

  [[nodiscard]] std::vector<stored_attribute> attributes_of(hid_t object, std::string const& whose) const {
    std::vector<std::string> names;
    hsize_t begin = 0;
    auto const note = [](hid_t, char const* name, H5A_info_t const*, void* to) -> herr_t {
      static_cast<std::vector<std::string>*>(to)->emplace_back(name);
      return 0;
    };
    access_.checked(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &begin, note, &names), whose);
    std::vector<stored_attribute> all;
    for (std::string const& name : names) {
      std::string const what = "the attribute " + name + " of " + whose;
      hdf5_handle const opened(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
      access_.checked(hid_t{opened}, what);
      hdf5_handle const type(H5Aget_type(opened), H5Tclose), space(H5Aget_space(opened), H5Sclose);
      access_.checked(hid_t{type}, what);
      access_.checked(hid_t{space}, what);
      hssize_t const count = access_.checked(H5Sget_simple_extent_npoints(space), what);
      auto const get = [&](hid_t in_memory, std::size_t each, auto& to) {
        to.resize(fitting(count, each, what) / sizeof(to[0]));
        if (count > 0) access_.checked(H5Aread(opened, in_memory, to.data()), what);
      };
      switch (H5Tget_class(type)) {
      case H5T_INTEGER:
        get(H5T_NATIVE_INT64, 8,
            all.emplace_back(stored_attribute{name, std::vector<std::int64_t>{}})
                .value.get<std::vector<std::int64_t>>());
        break;
      case H5T_FLOAT:
        get(H5T_NATIVE_DOUBLE, 8,
            all.emplace_back(stored_attribute{name, std::vector<double>{}}).value.get<std::vector<double>>());
        break;
      case H5T_STRING: {
        if (access_.checked(H5Tis_variable_str(type), what) != 0) break;
        std::size_t const each = H5Tget_size(type);
        std::string bytes;
        get(type, each, bytes);
        std::vector<std::string> texts;
        for (std::size_t at = 0; at < bytes.size(); at += each)
          texts.emplace_back(bytes, at, ::strnlen(bytes.data() + at, each));
        if (H5Sget_simple_extent_type(space) == H5S_SCALAR && texts.size() == 1) {
          all.push_back({name, std::move(texts[0])});
        } else {
          all.push_back({name, std::move(texts)});
        }
        break;
      }
      default: break;
      }
    }
    return all;
  }

  /// Fills in type and size of the elements.
  void read_type(hid_t type, stored_dataset& d) const {
    std::size_t const bytes = H5Tget_size(type);
    H5T_class_t const kind = H5Tget_class(type);
    d.element_bytes = int(std::min<std::size_t>(bytes, 1 << 30));
    d.type = kind == H5T_OPAQUE                  ? stored_type::opaque
             : kind == H5T_FLOAT                 ? stored_type::floating
             : H5Tget_sign(type) == H5T_SGN_NONE ? stored_type::natural
                                                 : stored_type::integer;
    if (kind == H5T_OPAQUE && bytes > 0) return;
    if (kind != H5T_FLOAT && kind != H5T_INTEGER)
      access_.fail(d.path, "its elements are neither numbers nor opaque bytes");
    hdf5_handle const own(type_of(d.type, d.element_bytes), H5Tclose);
    if (own < 0 || access_.checked(H5Tequal(own, type), d.path) == 0)
      access_.fail(d.path, "its numbers are not as those of this machine: they have " +
                               policy::counted(std::int64_t(bytes), "byte") +
                               (H5Tget_order(type) == H5T_ORDER_BE ? ", the highest first" : ""));
  }

  [[nodiscard]] stored_dataset dataset(hid_t object, std::string const& path) const {
    stored_dataset d;
    d.path = path;
    hdf5_handle const type(H5Dget_type(object), H5Tclose), space(H5Dget_space(object), H5Sclose),
        how(H5Dget_create_plist(object), H5Pclose);
    for (hid_t const each : {hid_t{type}, hid_t{space}, hid_t{how}}) access_.checked(each, path);
    read_type(type, d);
    if (access_.checked(H5Pget_layout(how), path) != H5D_CONTIGUOUS ||
        access_.checked(H5Pget_external_count(how), path) != 0)
      access_.fail(path, "it is chunked, compact or in other files, and not in one piece of this one");
    std::vector<hsize_t> extents(std::size_t(access_.checked(H5Sget_simple_extent_ndims(space), path)));
    access_.checked(H5Sget_simple_extent_dims(space, extents.data(), nullptr), path);
    d.extents.assign(extents.begin(), extents.end());
    auto const bytes =
        fitting(access_.checked(H5Sget_simple_extent_npoints(space), path), std::size_t(d.element_bytes), path);
    d.attributes = attributes_of(object, path);
    if (bytes == 0) return d;
    haddr_t const at = H5Dget_offset(object);
    if (at == HADDR_UNDEF) access_.fail(path, "it was never written");
    if (at > std::uint64_t(size_) - bytes) access_.fail(path, "the file is cut short");
    d.offset = std::int64_t(at);
    if (std::int64_t(bytes) < small_dataset &&
        std::find(with_content_.begin(), with_content_.end(), path) != with_content_.end()) {
      d.content.resize(bytes);
      access_.checked(H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, d.content.data()), path);
    }
    return d;
  }

  hdf5_access const& access_;
  std::int64_t size_;
  std::span<std::string_view const> with_content_;
  int objects_ = 0;
};

KEEL_INLINE stored_file read_file(std::string const& path, std::span<std::string_view const> with_content) {
  hdf5_access const access(path, "read");
  struct stat there{};
  if (::stat(path.c_str(), &there) != 0) access.fail("", std::strerror(errno), errno);
  if (!S_ISREG(there.st_mode)) access.fail("", "it is not a plain file");
  hdf5_handle const how(file_access(), H5Pclose);
  hdf5_handle const file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, how), H5Fclose);
  access.checked(hid_t{file}, "");
  hdf5_handle const root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  hdf5_reader reader(access, there.st_size, with_content);
  reader.read(access.checked(hid_t{root}, ""), "", 0);
  return std::move(reader.found);
}

#else

KEEL_INLINE stored_file read_file(std::string const& path, std::span<std::string_view const>) {
  require_hdf5(path);
  return {};
}

#endif

} // namespace keel::residency::detail
