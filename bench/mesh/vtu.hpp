// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// VTK files of polygons that ParaView opens: one .vtu for each rank, and the .pvtu that names them.

#include "../ocean/vti.hpp"
#include "mesh.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace trisk {

/// A number for each cell of a piece, in the order of its cells.
struct cell_data {
  std::string name;
  std::vector<double> values;
};

namespace detail {

template <class T>
std::string data_array(std::string_view type, std::string_view about, std::vector<T> const& values) {
  std::uint64_t const size = values.size() * sizeof(T);
  std::string bytes(reinterpret_cast<char const*>(&size), sizeof size);
  bytes.append(reinterpret_cast<char const*>(values.data()), size);
  std::ostringstream text;
  text.exceptions(std::ios::badbit); // else the text ends where memory does
  text << "<DataArray type=\"" << type << "\" " << about << " format=\"binary\">" << ocean::base64(bytes)
       << "</DataArray>\n";
  return text.str();
}
inline std::string vtk_file(std::string const& type, std::string const& inner) {
  char const* const order = std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"" + type + "\" version=\"1.0\" byte_order=\"" + order +
         "\" header_type=\"UInt64\">\n" + inner + "</VTKFile>\n";
}

} // namespace detail

/// The cells `ids` as polygons. Each has corners of its own, so that a period of the plane does not stretch one.
inline std::string vtu(mesh const& m, std::span<std::int64_t const> ids, std::vector<cell_data> const& data) {
  std::vector<double> corners;
  std::vector<std::int64_t> connectivity, offsets;
  for (std::int64_t const id : ids) {
    auto const c = std::size_t(id);
    for (int j = 0; j < m.degree(int(c)); ++j) {
      point const p = m.cells[c] + m.on.way(m.cells[c], m.vertices[std::size_t(m.vertices_on_cell[c][std::size_t(j)])]);
      corners.insert(corners.end(), {p.x, p.y, p.z});
      connectivity.push_back(std::int64_t(connectivity.size()));
    }
    offsets.push_back(std::int64_t(connectivity.size()));
  }
  std::string text = "<UnstructuredGrid>\n<Piece NumberOfPoints=\"" + std::to_string(connectivity.size()) +
                     "\" NumberOfCells=\"" + std::to_string(ids.size()) + "\">\n<Points>\n" +
                     detail::data_array("Float64", "NumberOfComponents=\"3\"", corners) + "</Points>\n<Cells>\n" +
                     detail::data_array("Int64", "Name=\"connectivity\"", connectivity) +
                     detail::data_array("Int64", "Name=\"offsets\"", offsets) +
                     detail::data_array("UInt8", "Name=\"types\"", std::vector<std::uint8_t>(ids.size(), 7)) +
                     "</Cells>\n<CellData>\n";
  for (auto const& d : data) text += detail::data_array("Float64", "Name=\"" + d.name + "\"", d.values);
  return detail::vtk_file("UnstructuredGrid", text + "</CellData>\n</Piece>\n</UnstructuredGrid>\n");
}

/// What names the pieces; `data` as they have it.
inline std::string pvtu(std::vector<std::string> const& pieces, std::vector<cell_data> const& data) {
  std::string text = "<PUnstructuredGrid GhostLevel=\"0\">\n<PPoints>\n<PDataArray type=\"Float64\" "
                     "NumberOfComponents=\"3\"/>\n</PPoints>\n<PCellData>\n";
  for (auto const& d : data) text += "<PDataArray type=\"Float64\" Name=\"" + d.name + "\"/>\n";
  text += "</PCellData>\n";
  for (auto const& name : pieces) text += "<Piece Source=\"" + name + "\"/>\n";
  return detail::vtk_file("PUnstructuredGrid", text + "</PUnstructuredGrid>\n");
}

} // namespace trisk
