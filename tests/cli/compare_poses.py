"""Compares two text models image by image: compare_poses.py A B LIMIT [names|order|renamed]

Poses may differ by LIMIT degrees (and LIMIT of the cameras' span); 0 means not by a digit, points
included. With "names", "order" or "renamed" the images of B are called as reword_database.py calls them.
"""
import math
import sys


def read(folder, cut=0):
    lines = [line for line in open(folder + "/images.txt", encoding="utf-8") if not line.startswith("#")]
    poses = {}
    for line in lines[::2]:
        part = line.split(maxsplit=9)
        name = part[9].strip()
        poses[name[cut:]] = part[1:8]
    points = sorted(line.split()[1:4] for line in open(folder + "/points3D.txt") if not line.startswith("#"))
    return poses, points


def rotation(q):
    w, x, y, z = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def center(pose):
    R, t = rotation(pose[:4]), pose[4:]
    return [-sum(R[k][j] * t[k] for k in range(3)) for j in range(3)]


def differ(a, b):
    """Angle in degrees, distance of centres."""
    p, q = [float(x) for x in a], [float(x) for x in b]
    chord = min(math.dist(p[:4], q[:4]), math.dist(p[:4], [-x for x in q[:4]]))
    return math.degrees(4 * math.asin(min(1.0, chord / 2))), math.dist(center(p), center(q))


def main():
    limit = float(sys.argv[3])
    (a, points_a), (b, points_b) = read(sys.argv[1]), read(sys.argv[2], {"names": 2, "order": 5, "renamed": 5}.get("".join(sys.argv[4:]), 0))
    if set(a) != set(b):
        sys.exit(f"other images: {sorted(set(a) ^ set(b))}")
    if limit == 0:
        if a != b or points_a != points_b:
            sys.exit(f"poses {'differ' if a != b else 'agree'}, points {'differ' if points_a != points_b else 'agree'}")
        return
    span = max(math.dist(center([float(x) for x in p]), center([float(x) for x in q])) for p in a.values() for q in a.values())
    found = [differ(a[name], b[name]) for name in a]
    worst, far = max(f[0] for f in found), max(f[1] for f in found) / span
    print(f"{sys.argv[2]}: {worst:.2e} degrees, {far:.2e} of the span")
    if worst > limit or far > limit:
        sys.exit("beyond the limit")


main()
