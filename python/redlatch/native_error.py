"""The error of a native module that cannot be loaded: it names the platform, its C library and the remedy."""

from __future__ import annotations

import platform
import re
import sysconfig


def explain(error: ImportError) -> ImportError:
    musl = "musl" in str(sysconfig.get_config_var("SOABI"))
    library = "musl" if musl else " ".join(platform.libc_ver()).strip()
    place = sysconfig.get_platform() + (f" with {library}" if library else "")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    remedy = (
        "build it for this machine with `pip install --force-reinstall --no-binary redlatch redlatch`, which takes Rust"
    )
    # The loader's words on a system whose C library is older than that of the build.
    needed = re.search(r"version [`']GLIBC_([0-9.]+)' not found", str(error))
    if needed:
        remedy = f"it needs at least glibc {needed[1]}: run on a newer system, or on this one {remedy}"
    text = f"the native module of redlatch cannot be loaded on {place}, {python}: {error}; {remedy}"
    return ImportError(text, name=error.name, path=error.path)
