"""Says the same in other words: reword_database.py DATABASE ids|names|order|renamed|pairs|keypoints|cameras"""
import random
import sqlite3
import struct
import sys

BASE = 2147483647


def matches_of(data, swapped, first=None, second=None):
    """The blob of matches with columns swapped and indices renamed."""
    values = struct.unpack(f"<{len(data) // 4}I", data)
    rows = list(zip(values[::2], values[1::2]))
    rows = [(first[a] if first else a, second[b] if second else b) for a, b in rows]
    return b"".join(struct.pack("<2I", *(reversed(row) if swapped else row)) for row in rows)


def renumber(db, new):
    """Images get other ids; pairs are stored with the lower id first."""
    pairs = list(db.execute("SELECT pair_id, rows, cols, data FROM matches"))
    db.execute("DELETE FROM matches")
    for table in "images", "keypoints":
        db.execute(f"UPDATE {table} SET image_id = image_id + 1000")
        for old, now in new.items():
            db.execute(f"UPDATE {table} SET image_id = ? WHERE image_id = ?", (now, old + 1000))
    for pair, rows, cols, data in pairs:
        a, b = new[pair // BASE], new[pair % BASE]
        db.execute("INSERT INTO matches VALUES (?, ?, ?, ?)",
                   (BASE * min(a, b) + max(a, b), rows, cols, matches_of(data, a > b)))


def swap_pairs(db):
    """Every other pair with the higher id first, as other programs store them."""
    for k, (pair, data) in enumerate(list(db.execute("SELECT pair_id, data FROM matches"))):
        if k % 2:
            db.execute("UPDATE matches SET pair_id = ?, data = ? WHERE pair_id = ?",
                       (BASE * (pair % BASE) + pair // BASE, matches_of(data, True), pair))


def permute_keypoints(db, draw):
    orders = {}
    for image, rows, cols, data in list(db.execute("SELECT image_id, rows, cols, data FROM keypoints")):
        order = list(range(rows))
        draw.shuffle(order)  # keypoint k goes to place order[k]
        size = 4 * cols
        moved = [b""] * rows
        for k in range(rows):
            moved[order[k]] = data[size * k:size * (k + 1)]
        db.execute("UPDATE keypoints SET data = ? WHERE image_id = ?", (b"".join(moved), image))
        orders[image] = order
    for pair, data in list(db.execute("SELECT pair_id, data FROM matches")):
        db.execute("UPDATE matches SET data = ? WHERE pair_id = ?",
                   (matches_of(data, False, orders[pair // BASE], orders[pair % BASE]), pair))


def copy_cameras(db):
    """Every image has a camera of its own, with the same values."""
    for image, camera in list(db.execute("SELECT image_id, camera_id FROM images")):
        db.execute("INSERT INTO cameras SELECT ?, model, width, height, params, prior_focal_length "
                   "FROM cameras WHERE camera_id = ?", (1000 - image, camera))
        db.execute("UPDATE images SET camera_id = ? WHERE image_id = ?", (1000 - image, image))


def other_ids(db, draw):
    old = [row[0] for row in db.execute("SELECT image_id FROM images")]
    draw.shuffle(new := list(range(1, len(old) + 1)))
    renumber(db, dict(zip(old, [3 * k for k in new])))


def other_order(db, draw):
    """Other names, in another order."""
    old = [row[0] for row in db.execute("SELECT image_id FROM images")]
    draw.shuffle(new := list(range(len(old))))
    for image, place in zip(old, new):
        db.execute("UPDATE images SET name = ? || '_' || name WHERE image_id = ?", (f"{place:04}", image))


def main():
    db = sqlite3.connect(sys.argv[1])
    draw = random.Random(1)
    if sys.argv[2] == "ids":
        other_ids(db, draw)
    elif sys.argv[2] == "names":
        db.execute("UPDATE images SET name = 'x/' || name")
    elif sys.argv[2] == "order":
        other_order(db, draw)
    elif sys.argv[2] == "renamed":
        other_order(db, draw)
        other_ids(db, draw)
    elif sys.argv[2] == "pairs":
        swap_pairs(db)
    elif sys.argv[2] == "keypoints":
        permute_keypoints(db, draw)
    else:
        copy_cameras(db)
    db.commit()


main()
