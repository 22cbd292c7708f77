# Copyright (c) 2026, The FULT authors
# SPDX-License-Identifier: BSD-3-Clause
"""FULT's package for Spack 0.23 and later. Add it with `spack repo add CLONE/packaging/spack`; it builds the branch main of that
clone."""

import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.meson import MesonPackage  # Spack 1.0 moved it there
except ImportError:
    pass


class Fult(MesonPackage):
    """User-level threads whose runnable set is a bit-vector, with blocking messages between processes."""

    license("BSD-3-Clause")

    # CLONE/packaging/spack/packages/fult/package.py
    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))

    version("main", branch="main")

    variant("comm", default=True, description="Build fult-comm, messages between processes")
    variant("pmix", default=True, when="+comm", description="Support launchers that use PMIx")
    variant(
        "buildtype",
        default="release",
        description="Meson build type",
        values=("plain", "debug", "debugoptimized", "release", "minsize"),
    )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("boost@1.74:+context")
    depends_on("hwloc@2:")
    depends_on("libfabric@1.9:", when="+comm")
    depends_on("pmix", when="+pmix")
    depends_on("googletest@1.10:", type="test")
    depends_on("python@3.9:", type="test")

    conflicts("%gcc@:11", msg="FULT is C++20: g++ 12 or clang 14")
    conflicts("%clang@:13", msg="FULT is C++20: g++ 12 or clang 14")
    requires("platform=linux", msg="FULT requires futexes and membarrier of Linux")
    requires("target=x86_64:", "target=aarch64:", policy="any_of", msg="FULT runs on x86-64 and aarch64")

    def meson_args(self):
        def feature(name, on):
            return f"-D{name}={'enabled' if on else 'disabled'}"

        return [
            feature("comm", self.spec.satisfies("+comm")),
            feature("tests", self.run_tests),
            "-Dbenchmarks=disabled",
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def say_hello(self):
        """The installed library knows this machine."""
        Executable(self.prefix.bin.join("fult-info"))()
