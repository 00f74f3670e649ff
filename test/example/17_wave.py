# SPDX-License-Identifier: MIT
"""Draws what 17_wave has saved: 17_wave.py PICTURE FILE ..."""
import sys

import h5py
import matplotlib.pyplot as plot

figure, places = plot.subplots(1, len(sys.argv) - 2, figsize=(7.2, 1.5),
                               gridspec_kw={"left": 0.01, "right": 0.99, "bottom": 0.02, "top": 0.85, "wspace": 0.05})
for place, name in zip(places, sys.argv[2:]):
    with h5py.File(name) as file:
        place.imshow(file["VTKHDF/CellData/eta"][...], cmap=plot.get_cmap("RdBu_r", 24), vmin=-0.4, vmax=0.4)
    place.set(title="step " + name.split(".")[-2].lstrip("0"), xticks=[], yticks=[])
figure.savefig(sys.argv[1], dpi=100)
