"""Shapes of SVG files as the lines and arcs of a drawing: test_svg_to_drawing.py SCRATCH_FOLDER"""
import os
import subprocess
import sys
import unittest

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python/examples")
sys.path.insert(0, EXAMPLES)
import svg_to_drawing

SCRATCH = sys.argv[1]


def write(text):
    path = os.path.join(SCRATCH, "plan.svg")
    with open(path, "w") as file:
        file.write(text)
    return path


def read(shapes, head="<svg xmlns='http://www.w3.org/2000/svg'>"):
    return svg_to_drawing.convert(write(head + shapes + "</svg>"))


class TestDrawings(unittest.TestCase):
    def check(self, shapes, lines=(), arcs=(), places=9):
        drawing = read(shapes)
        for found, wanted in ((drawing["lines"], lines), (drawing["arcs"], arcs)):
            self.assertEqual(len(found), len(wanted), (shapes, found))
            for a, b in zip(found, wanted):
                for k in range(len(b)):
                    turn = 360 * round((a[3] - b[3]) / 360) if len(b) == 5 and k >= 3 else 0
                    self.assertAlmostEqual(a[k] - turn, b[k], places, (shapes, a, b))

    def test_plain_shapes_with_y_up(self):
        self.check("<line x1='1' y1='2' x2='4' y2='3'/>", [[1, -2, 4, -3]])
        self.check("<rect x='1' y='1' width='2' height='1.5'/>",
                   [[1, -1, 3, -1], [3, -1, 3, -2.5], [3, -2.5, 1, -2.5], [1, -2.5, 1, -1]])
        self.check("<circle cx='2' cy='1' r='0.5'/>", (), [[2, -1, 0.5, -180, 0], [2, -1, 0.5, 0, 180]])
        self.check("<polygon points='1,1 2 1-.5.5'/>", [[1, -1, 2, -1], [2, -1, -0.5, -0.5], [-0.5, -0.5, 1, -1]])
        self.check("<polyline points='1,1 2,1 2,2'/>", [[1, -1, 2, -1], [2, -1, 2, -2]])

    def test_paths(self):
        self.check("<path d='M1 1 2 1V2h-.5l-.5.5z M3,3L4,4'/>",
                   [[1, -1, 2, -1], [2, -1, 2, -2], [2, -2, 1.5, -2], [1.5, -2, 1, -2.5], [1, -2.5, 1, -1], [3, -3, 4, -4]])
        # sweeping to the right over the top: with y up, from 0 to 180 degrees
        self.check("<path d='M1 2A1 1 0 013 2'/>", (), [[2, -2, 1, 0, 180]])
        self.check("<path d='M2 1a1 1 0 1 1 -1 1'/>", (), [[2, -2, 1, -180, 90]])
        self.check("<path d='M2 1a1 1 0 0 0 -1 1'/>", (), [[2, -2, 1, 90, 180]])
        self.check("<path d='M3 2C3 2.5523 2.5523 3 2 3'/>", (), [[2, -2, 1, -90, 0]], places=1)
        self.assertEqual(len(read("<path d='M0 0C1 0 1 5 2 0'/>")["lines"]), 32)

    def test_transforms(self):
        self.check("<g transform='translate(10,5)'><g transform='scale(2) rotate(90)'><line x1='1' x2='2'/></g></g>"
                   "<line x1='5' x2='6'/>", [[10, -7, 10, -9], [5, 0, 6, 0]])
        self.check("<line x1='1' x2='3' transform='rotate(90 1 0)'/>", [[1, 0, 1, -2]])
        # mirrored: the arc turns the other way
        self.check("<path transform='matrix(-1 0 0 1 4 0)' d='M2 1a1 1 0 0 0 -1 1'/>", (), [[2, -2, 1, 0, 90]])
        self.assertEqual(len(read("<circle r='1' transform='scale(1,2)'/>")["lines"]), 64)

    def test_units(self):
        for head, metres in (("<svg>", 1), ("<svg width='800' viewBox='0 0 4 3'>", 1),
                             ("<svg width='28m' viewBox='0 0 280 150'>", 0.1), ("<svg width='400mm' viewBox='0 0 4 3'>", 0.1),
                             ("<svg width='20cm'>", 0.01)):
            self.assertAlmostEqual(read("<line x2='4'/>", head)["unit"], metres, 12, head)

    def test_what_is_not_shown(self):
        self.check("<defs><line x1='7' x2='9'/></defs><g style='fill:red; stroke: none'><rect width='9' height='9'/></g>"
                   "<rect stroke='none' width='9' height='9'/><g display='none'><g><line x1='7' x2='9'/></g></g>"
                   "<text x='1'>a &lt; b</text><!-- c --><line x1='1' x2='1.0001'/>")

    def test_refusals_name_the_file(self):
        for shapes, words in (("<use href='#a'/>", "use"), ("<ellipse rx='1' ry='2'/>", "ellipse"), ("<line x2='1em'/>", "1em"),
                              ("<rect width='1' height='1' rx='0.1'/>", "rect"), ("<path d='M0 0 1'/>", "without its numbers"),
                              ("<path d='M0 0A1 2 0 0 1 1 1'/>", "circle"), ("<path d='M0 0Q1 1 2 0'/>", "'Q'"),
                              ("<g transform='turn(1)'/>", "turn"), ("<line", "plan.svg")):
            path = write("<svg>" + shapes + "</svg>")
            done = subprocess.run([sys.executable, EXAMPLES + "/svg_to_drawing.py", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "plan.svg: .*" + words if words != "plan.svg" else words)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    os.makedirs(SCRATCH, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
