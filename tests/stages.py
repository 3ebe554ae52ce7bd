"""The rows of src/sfm/stages.h are true: each stage, with the functions of src/sfm that it calls, mentions the members
of the state that its row names and no others, and assigns only those that it writes. docs/pipeline.md has the same
stages, in the same order, with what they write."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMON = {"asked", "photo_folder", "database", "out_folder", "stats", "stage"}  # read by all stages
ROW = re.compile(r"reads: ([\w, ]+); writes: ([\w, ]+?) \*/ psfm_status (psfm_\w+)\(")
FUNCTION = re.compile(r"^[a-z][^;={}()]*?\b(\w+)\(([^;{}]*)\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
STATE = re.compile(r"\bpsfm_sfm \*(\w+)")
MEMBER = re.compile(r"\bs->(?:num_)?(\w+)")  # a count goes with what it counts
ASSIGNED = re.compile(r"(?<!\*)\bs->(?:num_)?(\w+)[\w.\[\]>-]* (?:[-+*/|&]?=) ")


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


def look_into(functions, file, name, seen, mentioned, assigned):
    """Adds what a function and those that it calls mention and assign of the state, which is called s. A state of
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
        assigned.update(ASSIGNED.findall(body))
    for callee in set(re.findall(r"\w+", body)):
        look_into(functions, file, callee, seen, mentioned, assigned)


def check_stage(functions, stage, reads, writes):
    reads, writes = (set(names.split(", ")) - {"nothing"} for names in (reads, writes))
    mentioned, assigned = set(), set()
    look_into(functions, ROOT / "src/sfm/run.c", stage, set(), mentioned, assigned)
    if "court" in mentioned:
        mentioned.add("target")  # whose drawing it refers to
        reads = reads | {"target"}
    return ([f"{stage} mentions {name}, which its row does not name" for name in mentioned - COMMON - reads - writes] +
            [f"{stage} does not mention {name}, which its row names" for name in (reads | writes) - mentioned] +
            [f"{stage} assigns {name}, which its row does not write" for name in assigned - {"stats"} - writes])


def check_page(header, rows):
    text = (ROOT / "docs/pipeline.md").read_text()
    page = re.findall(r"^\| `(psfm_stage_\w+)` \|.*\| ([\w, ]+) \|$", text, re.MULTILINE)
    stages = [(stage, writes) for stage, (_, writes) in rows.items() if stage.startswith("psfm_stage_")]
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
    functions = read_functions(ROOT / "src/sfm")
    wrong = check_page(header, rows)
    for stage, (reads, writes) in rows.items():
        wrong += check_stage(functions, stage, reads, writes)
    for line in sorted(wrong):
        print("FAILED:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
