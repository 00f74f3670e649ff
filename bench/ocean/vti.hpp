// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// VTK ImageData files that ParaView opens. Rests on the standard library alone.

#include <bit>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace ocean {

/// `bytes` in base 64 (RFC 4648), padded.
inline std::string base64(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t n = 0; n < bytes.size(); n += 3) {
    std::size_t const left = bytes.size() - n;
    auto const byte = [&](std::size_t m) { return m < left ? std::uint32_t(std::uint8_t(bytes[n + m])) : 0u; };
    std::uint32_t const three = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += digits[three >> 18];
    text += digits[three >> 12 & 63];
    text += left > 1 ? digits[three >> 6 & 63] : '=';
    text += left > 2 ? digits[three & 63] : '=';
  }
  return text;
}

/// The image of one number a cell of an nx by ny grid, `values[i * ny + j]`, with square-metre cells of dx by dy.
/// Well-formed XML: the numbers are in base 64.
[[nodiscard]] inline std::string vti(std::string_view name, long nx, long ny, double dx, double dy, double time,
                                     std::vector<double> const& values) {
  std::uint64_t const size = std::uint64_t(nx) * std::uint64_t(ny) * sizeof(double);
  std::string bytes(sizeof size + size, '\0'); // the length, then the numbers, x fastest
  std::memcpy(bytes.data(), &size, sizeof size);
  char* to = bytes.data() + sizeof size;
  for (long j = 0; j < ny; ++j)
    for (long i = 0; i < nx; ++i, to += sizeof(double))
      std::memcpy(to, &values[std::size_t(i * ny + j)], sizeof(double));

  std::ostringstream file;
  file.exceptions(std::ios::badbit); // else the text ends where memory does
  file.precision(17);
  char const* const order = std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
  std::string const extent = "0 " + std::to_string(nx) + " 0 " + std::to_string(ny) + " 0 0";
  file << "<?xml version=\"1.0\"?>\n"
       << "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"" << order << "\" header_type=\"UInt64\">\n"
       << "<ImageData WholeExtent=\"" << extent << "\" Origin=\"0 0 0\" Spacing=\"" << dx << ' ' << dy << " 1\">\n"
       << "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">" << time
       << "</DataArray></FieldData>\n"
       << "<Piece Extent=\"" << extent << "\">\n<CellData Scalars=\"" << name << "\">\n"
       << "<DataArray type=\"Float64\" Name=\"" << name << "\" format=\"binary\">" << base64(bytes)
       << "</DataArray>\n</CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n";
  return file.str();
}

} // namespace ocean
