"""The rows of src/sfm/stages.h are true: each stage, with the functions of src/sfm that it calls, mentions the members
of the state that its row names and no others. Those that it assigns, or hands out by a pointer through which they can
be written, are those that its row says it writes. docs/pipeline.md has the same stages, in the same order, with what
they read and write."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMON = {"asked", "photo_folder", "database", "out_folder", "stats", "stage"}  # read by all stages
ROW = re.compile(r"reads: ([\w, ]+); writes: ([\w, ]+?) \*/ psfm_status (psfm_\w+)\(")
FUNCTION = re.compile(r"^[a-z][^;={}()]*?\b(\w+)\(([^;{}]*)\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
PROTOTYPE = re.compile(r"\b(psfm_\w+)\(([^;{}()]*)\)[^;{}()]*;")
STATE = re.compile(r"\bpsfm_sfm \*(\w+)")
MEMBER = re.compile(r"\bs->(?:num_)?(\w+)")  # a count goes with what it counts
PLACE = r"\bs->(?:num_)?(\w+)[\w.\[\]>-]*"  # a member or something in it
ASSIGNED = re.compile(r"(?<!\*)" + PLACE + r" (?:[-+*/|&]?=) ")
POINTED_AT = re.compile(r"(const )?\b\w+ \*\w+ = &?" + PLACE + ";")  # by a variable
VALUE = re.compile("&?" + PLACE)
STRUCT = re.compile(r"typedef struct[^{};]*\{([^{}]*)\} (\w+);")
FILLED = re.compile(r"\b(psfm_\w+)(?: \w+ = |\))\{")  # a struct with values
MACROS = {"PSFM_ALLOC", "PSFM_RESERVE"}  # write what they are given a pointer to


def read_rows(header):
    """{stage: (reads, writes)} as they are written there, in its order."""
    text = re.sub(r"\s+", " ", header.replace("\n *", "\n"))
    return {stage: (reads, writes) for reads, writes, stage in ROW.findall(text)}


def read_functions(folder):
    """{(file, function): (file, parameters, body)}; a function that is not static stands under every file. What opens
    and closes states is left out."""
    functions = {}
    files = {path: re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
             for path in folder.glob("*.c") if path.name != "state.c"}
    for path, text in files.items():
        for match in FUNCTION.finditer(text):
            name, parameters, body = match.groups()
            for file in [path] if match.group().startswith("static") else files:
                functions[file, name] = path, parameters, body
    return functions


def read_types():
    """{function: its parameters, struct: its members} of all headers."""
    types = {}
    for path in (path for top in ("src", "include") for path in (ROOT / top).rglob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        types.update((name, parameters.split(",")) for name, parameters in PROTOTYPE.findall(text))
        types.update((name, [member for member in members.split(";") for _ in member.split(",")])
                     for members, name in STRUCT.findall(text))
    return types


def split_values(text, begin):
    """Those in the brackets that open before `begin`."""
    depth, values = 0, [""]
    for letter in text[begin:]:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            values.append("")
        else:
            values[-1] += letter
    return [value.strip() for value in values]


def find_written(values, declared):
    """Members in a list of values that can be written, by how what takes the values is declared."""
    for place, value in enumerate(values):
        named = re.match(r"\.(\w+) = ", value)
        if named:
            place = next(k for k, text in enumerate(declared) if re.search(rf"\b{named.group(1)}\b", text))
        takes = declared[place].strip() if place < len(declared) else ""
        if ("*" in takes or "[" in takes) and not takes.startswith("const "):
            for choice in re.split("[?:]", value[named.end():] if named else value):
                match = VALUE.fullmatch(choice.strip())
                if match:
                    yield match.group(1)


def find_handed_out(functions, types, file, body):
    """Members that a body hands out by pointers through which they can be written."""
    written = {member for is_const, member in POINTED_AT.findall(body) if not is_const}
    for struct in FILLED.finditer(body):
        written.update(find_written(split_values(body, struct.end()), types.get(struct.group(1), [])))
    for call in re.finditer(r"\b(\w+)\(", body):
        name, values = call.group(1), split_values(body, call.end())
        if (file, name) in functions:
            written.update(find_written(values, functions[file, name][1].split(",")))
        elif name in MACROS or name == "free":
            given = [value for value in values if name == "free" or value.startswith("&")]
            written.update(find_written(given, ["void *"] * len(given)))
        else:
            written.update(find_written(values, types.get(name, [])))
    return written


def look_into(functions, types, file, name, seen, mentioned, written):
    """Adds what a function and those that it calls mention and write of the state, which is called s. A state of
    another name is another one."""
    if (file, name) not in functions or (functions[file, name][0], name) in seen:
        return
    file, parameters, body = functions[file, name]
    seen.add((file, name))
    state = STATE.search(parameters)
    if state and state.group(1) != "s":
        return
    if state:
        mentioned.update(MEMBER.findall(body))
        written.update(ASSIGNED.findall(body), find_handed_out(functions, types, file, body))
    for callee in set(re.findall(r"\w+", body)):
        look_into(functions, types, file, callee, seen, mentioned, written)


def check_stage(functions, types, stage, reads, writes):
    reads, writes = (set(names.split(", ")) - {"nothing"} for names in (reads, writes))
    twice = reads & writes
    mentioned, written = set(), set()
    look_into(functions, types, ROOT / "src/sfm/run.c", stage, set(), mentioned, written)
    can_write = written | ({"target"} if "court" in written else set())  # whose drawing it refers to
    if "court" in mentioned:
        mentioned.add("target")
        reads.add("target")
    return ([f"{stage} mentions {name}, which its row does not name" for name in mentioned - COMMON - reads - writes] +
            [f"{stage} does not mention {name}, which its row names" for name in (reads | writes) - mentioned] +
            [f"{stage} writes {name}, which its row does not write" for name in written - {"stats"} - writes] +
            [f"{stage} has {name} in its row twice" for name in twice] +
            [f"{stage} never writes {name}, which its row writes" for name in writes - can_write])


def check_page(header, rows):
    text = (ROOT / "docs/pipeline.md").read_text()
    page = re.findall(r"^\| `(psfm_stage_\w+)` \|.*\| ([\w, ]+) \| ([\w, ]+) \|$", text, re.MULTILINE)
    stages = [(stage, *row) for stage, row in rows.items() if stage.startswith("psfm_stage_")]
    wrong = [f"docs/pipeline.md: {' | '.join(there)} is {' | '.join(here)} in src/sfm/stages.h"
             for there, here in zip(page, stages) if there != here]
    if len(page) != len(stages):
        wrong.append(f"docs/pipeline.md has {len(page)} stages, src/sfm/stages.h {len(stages)}")
    for stage in re.findall(r"^psfm_status (\w+)\(", header, re.MULTILINE):
        if stage not in rows:
            wrong.append(f"{stage} has no row")
    return wrong


def main():
    header = (ROOT / "src/sfm/stages.h").read_text()
    rows = read_rows(header)
    functions, types = read_functions(ROOT / "src/sfm"), read_types()
    wrong = check_page(header, rows)
    for stage, (reads, writes) in rows.items():
        wrong += check_stage(functions, types, stage, reads, writes)
    for line in sorted(wrong):
        print("FAILED:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
