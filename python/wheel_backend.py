"""What pip calls to make a wheel of this checkout (PEP 517): CMake builds and installs, and the wheel holds
the module, the shared library beside it, and the command. The libraries they need are the system's, so the
wheel is for machines like the one it was made on.

PLANARSFM_BUILD names the build folder, build-wheel if it is not set."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _version():
    with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
        return re.search(r"project\(planarsfm VERSION ([0-9.]+)", file.read()).group(1)


def _metadata():
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
        description = file.read()
    return """Metadata-Version: 2.1
Name: planarsfm
Version: %s
Summary: Camera poses from photographs of flat things
License: BSD-3-Clause
Requires-Python: >=3.8
Requires-Dist: numpy
Description-Content-Type: text/markdown

%s""" % (_version(), description)


def _install(prefix):
    """Builds and installs into the folder `prefix`."""
    build = os.path.join(ROOT, os.environ.get("PLANARSFM_BUILD", "build-wheel"))
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.check_call(["cmake", "-S", ROOT, "-B", build, "-DPSFM_TESTS=OFF", "-DPSFM_BENCH=OFF"] + generator)
    libraries = [name + kind for name in ("planarsfm_core", "planarsfm") for kind in ("_shared", "_static")]
    targets = ["planarsfm", "man"] + libraries
    subprocess.check_call(["cmake", "--build", build, "--parallel", "--target"] + targets)
    subprocess.check_call(["cmake", "--install", build, "--strip", "--prefix", prefix], stdout=subprocess.DEVNULL)


def _find(folder, name):
    for path, _, names in os.walk(folder):
        if name in names:
            return os.path.join(path, name)
    raise FileNotFoundError("the installed build has no " + name)


class _Wheel:
    """A wheel that is being written; the same contents give the same bytes."""

    def __init__(self, path, info):
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._info = info
        self._record = []

    def add(self, name, contents, mode=0o644):
        entry = zipfile.ZipInfo(name)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, contents)
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
        self._record.append("%s,sha256=%s,%d\n" % (name, digest, len(contents)))

    def add_file(self, name, path, mode=0o644):
        with open(path, "rb") as file:
            self.add(name, file.read(), mode)

    def close(self):
        name = self._info + "/RECORD"
        self._zip.writestr(zipfile.ZipInfo(name), "".join(self._record) + name + ",,\n")
        self._zip.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    stem = "planarsfm-" + _version()
    name, info = "%s-py3-none-%s.whl" % (stem, PLATFORM), stem + ".dist-info"
    wheel = _Wheel(os.path.join(wheel_directory, name), info)
    with tempfile.TemporaryDirectory() as prefix:
        _install(prefix)
        module = os.path.dirname(_find(prefix, "_library.py"))
        for source in sorted(os.listdir(module)):
            if source.endswith(".py") or source == "py.typed":
                wheel.add_file("planarsfm/" + source, os.path.join(module, source))
        for library in ("libplanarsfm-core", "libplanarsfm"):
            library += ".0.dylib" if PLATFORM.startswith("macos") else ".so.0"
            wheel.add_file("planarsfm/" + library, _find(prefix, library))
        wheel.add_file(stem + ".data/scripts/planarsfm", os.path.join(prefix, "bin", "planarsfm"), 0o755)
    wheel.add(info + "/METADATA", _metadata().encode())
    wheel.add(info + "/WHEEL", ("Wheel-Version: 1.0\nGenerator: planarsfm\nRoot-Is-Purelib: false\n"
                                "Tag: py3-none-%s\n" % PLATFORM).encode())
    wheel.add_file(info + "/LICENSE", os.path.join(ROOT, "LICENSE"))
    wheel.close()
    return name


def build_sdist(sdist_directory, config_settings=None):
    stem = "planarsfm-" + _version()
    names = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    with tarfile.open(os.path.join(sdist_directory, stem + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in names:
            archive.add(os.path.join(ROOT, name), stem + "/" + name)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(_metadata())
            file.flush()
            archive.add(file.name, stem + "/PKG-INFO")
    return stem + ".tar.gz"
