# SPDX-License-Identifier: BSD-3-Clause
# A recipe for Spack, as a starting point: it was never run. Put it into the directory that `spack create --name
# hpcw` makes, and set `git` to the location of your clone.
from spack.package import *


class Hpcw(MesonPackage):
    """Rank-aware writers for the file formats of parallel programs, a generator of synthetic data, an I/O benchmark."""

    git = "file:///path/to/hpcw"

    version("main", branch="main")

    variant("mpi", default=True, description="Build libhpcw_mpi and libhpcw_trace, and programs that run under mpirun")
    variant("bench", default=True, description="Build hpcw-bench")

    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("brotli")
    depends_on("cjson")
    depends_on("inih")
    depends_on("libdeflate")
    depends_on("lua@5.4")
    depends_on("xxhash")
    depends_on("mpi", when="+mpi")

    def meson_args(self):
        args = [
            "-Dmpi=" + ("enabled" if self.spec.satisfies("+mpi") else "disabled"),
            "-Dbench=" + ("enabled" if self.spec.satisfies("+bench") else "disabled"),
            "-Dtests=disabled",
            "-Dreport=disabled",  # Spack has no package of Chart.js
        ]
        if self.spec.satisfies("+mpi"):
            args.append("-Dmpicc=" + self.spec["mpi"].mpicc)
        return args
