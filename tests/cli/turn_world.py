"""The same in another world, turned, scaled and shifted: turn_world.py model|half|positions|gcp IN OUT

IN and OUT are folders of text models (poses alone: points are left out), files for align --positions
or files for align --gcp. "half" is a model in a world of half the size, not turned.
"""
import os
import shutil
import sys

SCALE, SHIFT = 3.75, (120.0, -45.0, 8.0)
HALF = (0.8, 0.36, -0.24, 0.42)  # a quaternion, not yet of unit length


def multiply(a, b):
    return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])


def inverse(q):
    return (q[0], -q[1], -q[2], -q[3])


LENGTH = sum(x * x for x in HALF) ** 0.5
TURN = tuple(x / LENGTH for x in HALF)  # new from old


def rotate(q, v):
    return multiply(multiply(q, (0.0, *v)), inverse(q))[1:]


def moved(X):
    return [SCALE * x + t for x, t in zip(rotate(TURN, X), SHIFT)]


def move_model(source, target, move, turn):
    os.makedirs(target)
    shutil.copy(f"{source}/cameras.txt", target)
    lines = [line for line in open(f"{source}/images.txt", encoding="utf-8") if not line.startswith("#")]
    with open(f"{target}/images.txt", "w", encoding="utf-8") as out:
        for line in lines[::2]:
            part = line.rstrip("\n").split(" ", 9)
            q, t = [float(x) for x in part[1:5]], [float(x) for x in part[5:8]]
            center = move([-x for x in rotate(inverse(q), t)])
            q = multiply(q, inverse(turn))
            t = [-x for x in rotate(q, center)]
            out.write(" ".join([part[0], *(f"{x:.17g}" for x in (*q, *t)), *part[8:]]) + "\n\n")
    open(f"{target}/points3D.txt", "w").close()


def move_lines(source, target, first):
    """The three columns from `first` on are a place."""
    with open(target, "w", encoding="utf-8") as out:
        for line in open(source, encoding="utf-8"):
            part = line.split()
            place = moved([float(x) for x in part[first:first + 3]])
            out.write(" ".join([*part[:first], *(f"{x:.17g}" for x in place), *part[first + 3:]]) + "\n")


def main():
    kind, source, target = sys.argv[1:4]
    if kind == "model":
        move_model(source, target, moved, TURN)
    elif kind == "half":
        move_model(source, target, lambda X: [0.5 * x for x in X], (1.0, 0.0, 0.0, 0.0))
    else:
        move_lines(source, target, 1 if kind == "positions" else 0)


main()
