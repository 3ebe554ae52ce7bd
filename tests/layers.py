"""The rooms of src/: layers.py [ROOT]. One line for each thing that is not as it should be.

CONTRIBUTING.md lists the rooms from the bottom up. A room includes itself and those above it in that
table, never one below it, and has 30 .c files at most. src/core reaches no library but those of
linear algebra.
"""
import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
MOST_SOURCES = 30
NOT_OF_CORE = re.compile(r"cjson/|sqlite3|hdf5|dnnl|jpeglib|png\.h|tiff|libheif|libexif|mpi\.h")
INCLUDE = re.compile(r'^ *# *include *(?:"([^"]+)"|<([^>]+)>)', re.M)


def read_rooms():
    with open("CONTRIBUTING.md") as page:
        return re.findall(r"^\| `src/([a-z0-9_/]+)` \|", page.read(), re.M)


def read_includes():
    """Per file of src and include, by its path: the files and <headers> that it includes."""
    includes = {}
    for top in ("src", "include"):
        for folder, _, names in os.walk(top):
            for name in (n for n in names if n.endswith((".c", ".h"))):
                path = os.path.join(folder, name)
                with open(path) as file:
                    found = INCLUDE.findall(file.read())
                includes[path] = [f"<{system}>" if system else
                                  ("include/" if own.startswith("planarsfm/") else "src/") + own
                                  for own, system in found]
    return includes


def find_reached(start, includes):
    """All that a file includes, and what that includes."""
    reached, waiting = set(), [start]
    while waiting:
        for header in includes.get(waiting.pop(), []):
            if header not in reached:
                reached.add(header)
                waiting.append(header)
    return reached


def check():
    rooms, includes = read_rooms(), read_includes()
    room_of = {path: os.path.dirname(path)[len("src/"):] for path in includes if path.startswith("src/")}
    for room in sorted(set(room_of.values()) - set(rooms)):
        yield f"src/{room} is not in the table of CONTRIBUTING.md"
    for room in rooms:
        sources = [path for path, its in room_of.items() if its == room and path.endswith(".c")]
        if not sources:
            yield f"CONTRIBUTING.md lists src/{room}, which is not there"
        if len(sources) > MOST_SOURCES:
            yield f"src/{room} has {len(sources)} .c files; a room has {MOST_SOURCES} at most"
    rank = {room: k for k, room in enumerate(rooms)}
    for path in sorted(room_of):
        own = room_of[path]
        for header in includes[path]:
            other = room_of.get(header)
            if header.startswith("src/") and other is None:
                yield f"{path} includes {header}, which is not there"
            elif other is not None and rank.get(other, 0) > rank.get(own, 0):
                yield f"{path} includes {header}, but src/{other} comes after src/{own} in CONTRIBUTING.md"
        if own.startswith("core/"):
            for header in sorted(find_reached(path, includes)):
                if NOT_OF_CORE.search(header.lower()) and header.startswith("<"):
                    yield f"{path} reaches {header}, which src/core does without"


os.chdir(ROOT)
failures = list(check())
for failure in failures:
    print("FAILED:", failure)
sys.exit(1 if failures else 0)
