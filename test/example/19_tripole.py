# SPDX-License-Identifier: MIT
"""Draws what 19_tripole has saved, unfolded at the north: 19_tripole.py PICTURE FILE ..."""
import sys

import h5py
import matplotlib.pyplot as plot
import numpy

figure, places = plot.subplots(1, len(sys.argv) - 2, figsize=(7.2, 2.6),
                               gridspec_kw={"left": 0.01, "right": 0.99, "bottom": 0.02, "top": 0.9, "wspace": 0.05})
for place, name in zip(places, sys.argv[2:]):
    with h5py.File(name) as file:
        eta = file["VTKHDF/CellData/eta"][...].T
    half = eta.shape[1] // 2
    place.imshow(numpy.vstack([eta[:, :half], eta[::-1, :half - 1:-1]]), origin="lower", cmap=plot.get_cmap("RdBu_r", 24), vmin=-0.2, vmax=0.2)
    place.axhline(eta.shape[0] - 0.5, color="gray", linewidth=0.5)
    place.set(title="step " + name.split(".")[-2].lstrip("0"), xticks=[], yticks=[])
figure.savefig(sys.argv[1], dpi=100)
