"""The field's words stay: words.py [ROOT]. One line for each private word that came back in src, include, cli, tools, web,
python and the pages, and for each static function of src, include, cli and tools whose name is one word. CONTRIBUTING.md
has the words to use instead."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
ROOT = ROOT if ROOT.is_dir() else ROOT.parent.parent
PRIVATE = re.compile(r"""
    (?<![a-z])(?:
    vain | likeness | alike | twins? | clues? | witness(?:es)? | credits? | packets? | crew | thin[ _-]cuts? |
    weak[ _-]joints? | joined[ _]parts? | world[ _-]turns? | turns?[ ]of[ ]the[ ]world | left[ _-]?overs? |
    last[ _-]look | made-up | sight(?:s|ing|ings|ed)? | that[ ]nobody[ ]gave | number[ ]of[ ]everything | absence |
    bow(?:s|ed)? | bends? | bent | bending | settle[sd]? | unsettled? | probes? | let[ _]go | raised[ _]photos? |
    effort[ _]grounds
    )(?![a-z])""", re.VERBOSE)
# Everyday English, names of others, and the names that are read for one release: a file and what may stand there.
ALLOWED = {
    "CONTRIBUTING.md": "|",  # the last column of the table of words
    "docs/formats.md": "| `",  # former names
    "src/core/base/options.c": '{"',
    "src/formats/graph_file.c": '"absence"',
    "web/findings.js": "summary.deviations",
    "cli/ranks.c": "MPI_Iprobe",
}
SOURCE = ("src", "include", "cli", "tools", "web", "python")
STATIC = re.compile(r"^static\s+(?:inline\s+)?(?:[A-Za-z_][\w ]*?[\s*]+)([a-z][a-z0-9]*)\s*\(", re.MULTILINE)


def list_files():
    for folder in SOURCE:
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".js", ".html", ".py"))
    yield from (path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md")
    yield from (ROOT / "docs").rglob("*.md")


def find_words():
    for path in list_files():
        name = str(path.relative_to(ROOT))
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = PRIVATE.search(line.lower())
            if found and not (name in ALLOWED and ALLOWED[name] in line):
                yield f"{name}:{number}: '{found.group()}' is a private word"


def find_functions():
    for path in (path for folder in SOURCE[:4] for path in (ROOT / folder).rglob("*.[ch]")):
        for name in STATIC.findall(path.read_text()):
            yield f"{path.relative_to(ROOT)}: static function {name}() wants a verb and an object"


failures = sorted(find_words()) + sorted(find_functions())
for failure in failures:
    print("FAILED:", failure)
sys.exit(1 if failures else 0)
