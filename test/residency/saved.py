#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What h5py finds in files that test/residency/save.cpp has saved: their elements, and that they are as VTKHDF has it. VTK's own
reader, where there is one, has to find the same. Prints what is wrong. `saved.py vtk FILE` prints what VTK finds."""
import functools
import json
import subprocess
import sys

import numpy as np

# Versions before 9.3 read no image that has cells, or less than three dimensions.
READS_IMAGES = (9, 3)


def say_what_vtk_finds(name):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkVersion
    from vtkmodules.vtkIOHDF import vtkHDFReader
    version = (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion())
    if not name:
        return print(json.dumps(version))
    reader = vtkHDFReader()
    reader.SetFileName(name)
    reader.Update()
    read = reader.GetOutputDataObject(0)
    found = {"points": [read.GetPoint(n) for n in range(read.GetNumberOfPoints())]}
    for group in "CellData", "PointData", "FieldData":
        data = getattr(read, "Get" + group)()
        for n in range(data.GetNumberOfArrays()):
            found[group + "/" + data.GetArray(n).GetName()] = vtk_to_numpy(data.GetArray(n)).ravel().tolist()
    print(json.dumps(found))


@functools.cache
def vtk(name=""):
    """What VTK finds; None where there is none."""
    for python in sys.executable, "/usr/bin/python3":
        said = subprocess.run([python, __file__, "vtk", name], capture_output=True, text=True)
        if said.returncode == 0:
            return json.loads(said.stdout)
        if "No module named 'vtkmodules'" not in said.stderr:
            sys.exit(f"VTK does not read {name}: {said.stderr[-400:]}")
    return None


def fail(name, what, found, wanted):
    sys.exit(f"{name}: {what} is\n{found}\nand not\n{wanted}")


def check(name, wanted, extent=None, origin=(0, 0, 0), points=None):
    """`wanted` is by group and name."""
    import h5py
    with h5py.File(name) as file:
        root = file["VTKHDF"]
        found = {f"{group}/{key}": root[group][key][...] for group in ("CellData", "PointData", "FieldData") if group in root
                 for key in root[group]}
        kind = root.attrs["Type"].decode()
        if list(root.attrs["Version"]) != [1, 0]:
            fail(name, "the version", root.attrs["Version"], [1, 0])
        if extent is not None:
            for key, value in {"WholeExtent": extent, "Origin": origin, "Spacing": (1, 1, 1), "Direction": np.eye(3).ravel()}.items():
                if list(root.attrs[key]) != list(value):
                    fail(name, key, root.attrs[key], value)
            # As vtkHDFReader counts dimensions and elements.
            counts = [extent[2 * d + 1] - extent[2 * d] + 1 for d in range(3)][::-1]
            while len(counts) > 1 and counts[0] == 1:
                counts.pop(0)
            for key, value in found.items():
                if key.startswith("FieldData"):
                    continue
                shape = tuple(n - key.startswith("CellData") for n in counts)
                if value.shape[:len(shape)] != shape or value.ndim > len(shape) + 1:
                    fail(name, "the shape of " + key, value.shape, shape)
            points = np.stack(np.meshgrid(*(np.arange(extent[2 * d + 1] + 1) + origin[d] for d in (2, 1, 0)), indexing="ij"), -1).reshape(-1, 3)[:, ::-1]
        else:
            n = len(root["Points"])
            if any(root["NumberOf" + key][...].tolist() != [n] for key in ("Points", "Cells", "ConnectivityIds")):
                fail(name, "a number of elements", root["NumberOfCells"][...], [n])
            for key, value in {"Connectivity": np.arange(n), "Offsets": np.arange(n + 1), "Types": np.ones(n, "u1")}.items():
                if not np.array_equal(root[key][...], value):
                    fail(name, key, root[key][...], value)
            by_id = np.argsort(root["CellData/id"][...])
            if not np.array_equal(root["Points"][...][by_id], points(root["CellData/id"][...][by_id], by_id)):
                fail(name, "the list of points", root["Points"][...][by_id], "what it should be")
            points = root["Points"][...]
    if kind != ("UnstructuredGrid" if extent is None else "ImageData"):
        fail(name, "its type", kind, "another")
    if set(found) != set(wanted):
        fail(name, "what it has", sorted(found), sorted(wanted))
    for key, value in wanted.items():
        value = value(found["CellData/id"]) if callable(value) else value
        if found[key].dtype != value.dtype or not np.array_equal(found[key], value):
            fail(name, f"{key} of {found[key].dtype}", found[key], f"{value} of {value.dtype}")
    version = vtk()
    is_simple = extent is None or (len(counts) == 3 and not any(key.startswith("CellData") for key in found))
    if version is None or (tuple(version) < READS_IMAGES and not is_simple):
        return
    read = dict(vtk(name))
    if not np.allclose(read.pop("points"), points):
        fail(name, "the points that VTK finds", "other ones", points)
    if set(read) != set(found):
        fail(name, "what VTK finds", sorted(read), sorted(found))
    for key, value in found.items():
        if not np.array_equal(np.array(read[key]), value.ravel().astype("f8")):
            fail(name, f"{key}, as VTK reads it,", read[key], value)


def numbers(*counts, kind="f8", component=0, more=0, beyond=None, left=False):
    """Of elements with these global indices, as number_of says; the last dimension runs fastest unless `left`."""
    index = list(np.indices(counts)) + [0, 0]
    value = ((index[0] * 20 + index[1]) * 20 + (index[2] if len(counts) > 2 else 0)) * 3 + 100000 * component + more
    if len(counts) == 1:
        value = index[0] * 1200 + 100000 * component + more
    value = value.T if left else value
    if beyond:
        value = value[..., None] + np.arange(beyond)
    return value.astype(kind)


def grids(order):
    left = order == "left"

    def extents(ni, nj):  # points
        return [0, ni - 1, 0, nj - 1, 0, 0] if left else [0, nj - 1, 0, ni - 1, 0, 0]

    def origin(i, j):
        return (i, j, 0) if left else (j, i, 0)

    wave = numbers(7, 9, left=left)
    cells = {"CellData/mass": numbers(7, 9, left=left), "CellData/mass[1]": numbers(7, 9, more=0.5, left=left),
             "CellData/count": (numbers(7, 9, kind="i8", left=left) % 251).astype("u1"),
             "CellData/wave": np.stack([wave, -wave], -1).astype("f4"),
             "CellData/layers": numbers(7, 9, beyond=3, left=left), "FieldData/time": np.array([2.5])}
    for step in 0, 1, 2:
        end = f".{step:06}.vtkhdf"
        check("movie" + end, cells, extents(8, 10))
        check("movie.vertex" + end, {"PointData/corner": numbers(8, 9, kind="f4", beyond=2, left=left)}, extents(8, 9))
        check("movie.face0" + end, {"PointData/east": numbers(8, 9, left=left)}, extents(8, 9), origin(0, 0.5))
        check("movie.face1" + end, {"PointData/north": numbers(7, 9, left=left)}, extents(7, 9), origin(0.5, 0))
        check("movie.cell.along1" + end, {"CellData/length": numbers(9)}, [0, 9, 0, 0, 0, 0])
    with open("movie.face0.vtkhdf.series") as file:
        listed = json.load(file)
    if listed["files"] != [{"name": f"movie.face0.{step:06}.vtkhdf", "time": step} for step in (0, 1, 2)]:
        fail("movie.face0.vtkhdf.series", "the list", listed, "three files")
    with open("movie.vtkhdf.series") as file:
        if [one["time"] for one in json.load(file)["files"]] != [2.5] * 3:
            fail("movie.vtkhdf.series", "a time", "another", 2.5)


def more():
    check("solid.000000.vtkhdf", {"CellData/solid": numbers(4, 5, 6), "PointData/node": numbers(5, 6, 7, kind="i4")}, [0, 6, 0, 5, 0, 4])
    check("nodes.000000.vtkhdf", {"PointData/node": numbers(5, 6, 7, kind="i4")}, [0, 6, 0, 5, 0, 4])
    check("blocks.000000.vtkhdf", {"CellData/mass": numbers(8, 12)}, [0, 12, 0, 8, 0, 0])
    for c in 0, 1:
        check("two" + c * ".1" + ".000000.vtkhdf", {"CellData/mass": numbers(7, 9, component=c), "FieldData/time": np.array([c + 1.])}, [0, 9, 0, 7, 0, 0])


def mesh():
    def number(ids):
        return (ids + 40) / 1000003

    data = {"CellData/id": lambda ids: ids, "PointData/age": lambda ids: (number(ids)[:, None] * 4 + np.arange(4)).astype("f4")}
    where = {"PointData/where": lambda ids: number(ids)[:, None] + [0, 100]}
    check("dots.000000.vtkhdf", data | where, points=lambda ids, _: np.stack([number(ids), number(ids) + 100, 0 * ids], -1))
    check("plain.000000.vtkhdf", data, points=lambda _, places: np.stack([places, 0 * places, 0 * places], -1))


if sys.argv[1] == "vtk":
    say_what_vtk_finds(sys.argv[2])
else:
    globals()[sys.argv[1]](*sys.argv[2:])
