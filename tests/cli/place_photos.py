# place_photos.py SCENE OUT: the photographs of a made-up scene with their true positions as EXIF data, one unit a metre;
# the first without any, the last with a wrong one.
import math
import os
import struct
import sys


def entry(tag, kind, count, value):
    return struct.pack(">HHI4s", tag, kind, count, value)


def angle(value):
    degrees = int(value)
    minutes = int((value - degrees) * 60)
    seconds = round(((value - degrees) * 60 - minutes) * 60 * 1000000)
    return struct.pack(">6I", degrees, 1, minutes, 1, seconds, 1000000)


def exif(latitude, longitude, altitude):
    offset = 8 + 18 + 2 + 6 * 12 + 4  # rationals behind the two folders of entries
    gps = struct.pack(">H", 6) + entry(1, 2, 2, b"N\0\0\0") + entry(2, 5, 3, struct.pack(">I", offset))
    gps += entry(3, 2, 2, b"E\0\0\0") + entry(4, 5, 3, struct.pack(">I", offset + 24))
    gps += entry(5, 1, 1, b"\0\0\0\0") + entry(6, 5, 1, struct.pack(">I", offset + 48)) + bytes(4)
    data = angle(latitude) + angle(longitude) + struct.pack(">2I", round(altitude * 10000), 10000)
    tiff = b"MM\0*" + struct.pack(">IH", 8, 1) + entry(0x8825, 4, 1, struct.pack(">I", 26)) + bytes(4)
    body = b"Exif\0\0" + tiff + gps + data
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def centre(fields):
    w, x, y, z, *t = map(float, fields[1:8])
    rows = ((1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)))
    return [-sum(rows[i][j] * t[i] for i in range(3)) for j in range(3)]


scene, out = sys.argv[1:]
lines = [line.split() for line in open(scene + "/gt/images.txt") if not line.startswith("#")]
centres = sorted((fields[9], centre(fields)) for fields in lines[::2])
for k, (name, (east, north, up)) in enumerate(centres):
    jpeg = open(os.path.join(scene, "images", name), "rb").read()
    if k == len(centres) - 1:
        north += 5000
    place = exif(50 + north / 111320, 14 + east / (111320 * math.cos(math.radians(50))), 100 + up)
    open(os.path.join(out, name), "wb").write(jpeg[:2] + (place if k > 0 else b"") + jpeg[2:])
