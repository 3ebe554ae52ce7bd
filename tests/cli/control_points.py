"""Points of a text model as control points for align --gcp: control_points.py MODEL NUMBER, to standard output"""
import sys


def main():
    folder, number = sys.argv[1], int(sys.argv[2])
    lines = [line.rstrip("\n") for line in open(f"{folder}/images.txt", encoding="utf-8") if not line.startswith("#")]
    images = {}
    for head, keypoints in zip(lines[::2], lines[1::2]):
        part, values = head.split(" ", 9), keypoints.split()
        images[part[0]] = part[9], list(zip(values[::3], values[1::3]))
    points = [line.split() for line in open(f"{folder}/points3D.txt", encoding="utf-8") if not line.startswith("#")]
    for k, point in enumerate(points[::len(points) // number][:number]):
        for image, keypoint in list(zip(point[8::2], point[9::2]))[:3]:
            name, pixels = images[image]
            print(*point[1:4], *pixels[int(keypoint)], name, f"point{k}")


main()
