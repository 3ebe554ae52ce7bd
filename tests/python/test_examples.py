"""The examples in the module's docstrings do what they say, and every public function and class has one; what is
annotated is annotated throughout: test_examples.py COMMAND SCRATCH_FOLDER"""
import doctest
import importlib
import inspect
import os
import pkgutil
import shutil
import subprocess
import sys
import unittest

try:
    import numpy as np
except ImportError:
    sys.exit(77)
import planarsfm

COMMAND, SCRATCH = sys.argv[1:3]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# What a function returns is shown where it is returned.
RESULTS = {"Error", "Cancelled", "Registration", "Result", "Run"}


def modules():
    return [importlib.import_module("planarsfm." + m.name) for m in pkgutil.iter_modules(planarsfm.__path__)]


def public():
    """Functions and classes that users call, by name; the parts live in modules of their own."""
    found = {name: getattr(planarsfm, name) for name in planarsfm.__all__}
    for name in list(found):
        if inspect.ismodule(found[name]):
            part = found.pop(name)
            found.update({name + "." + f: getattr(part, f) for f in part.__all__})
    return found


class TestExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        os.makedirs(SCRATCH)
        os.chdir(SCRATCH)
        for arguments in (["field", "-o", "field", "--cameras", "6", "--render.width", "400"],
                          ["arena", "-o", "arena", "--matches-only", "--cameras", "8", "--points", "300"]):
            subprocess.run([COMMAND, "synth", *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        os.rename("field/images", "photos")
        os.rename("field/gt", "gt")

    def test_examples(self):
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        for module in modules():
            for test in doctest.DocTestFinder().find(module, module.__name__, module=module,
                                                     globs={"planarsfm": planarsfm, "np": np}):
                runner.run(test)
        self.assertGreater(runner.tries, 20)
        self.assertEqual(runner.failures, 0, "see above")

    def test_everything_public_has_one(self):
        for name, what in public().items():
            self.assertTrue(inspect.getdoc(what), name)
            if name.split(".")[-1] not in RESULTS:
                self.assertIn(">>>", what.__doc__ + (getattr(what, "__init__").__doc__ or ""), name)

    def test_reference(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        made = subprocess.run([sys.executable, root + "/scripts/python-reference"], check=True, capture_output=True,
                              text=True).stdout
        with open(root + "/docs/python_reference.md", encoding="utf-8") as file:
            self.assertEqual(file.read(), made, "scripts/python-reference > docs/python_reference.md")

    def test_types(self):
        """Every parameter and every return value."""
        for module in modules():
            classes = [k for k in vars(module).values() if inspect.isclass(k) and k.__module__ == module.__name__]
            for owner in [module, *classes]:
                for function in vars(owner).values():
                    if inspect.isfunction(function) and function.__module__ == module.__name__:
                        wanted = {*inspect.signature(function).parameters, "return"} - {"self", "cls"}
                        self.assertEqual(wanted - set(function.__annotations__), set(), function.__qualname__)
        self.assertTrue(os.path.exists(os.path.join(planarsfm.__path__[0], "py.typed")))


unittest.main(argv=sys.argv[:1] + sys.argv[3:])
