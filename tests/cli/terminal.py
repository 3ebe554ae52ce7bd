"""Runs a command in a pseudo-terminal: terminal.py [--keys WORD] [--columns N] COMMAND...

Prints what a screen would keep (a carriage return goes back to the start of the line, later
characters overwrite earlier ones), then "status N". --keys presses Ctrl-C once WORD was seen."""
import argparse
import fcntl
import os
import pty
import struct
import sys
import termios


def screen(text):
    """The lines that stay, after everything was drawn over."""
    kept = []
    for line in text.replace("\r\n", "\n").split("\n"):
        cells = []
        for part in line.split("\r"):
            cells[: len(part)] = part
        kept.append("".join(cells).rstrip())
    return kept


def run(command, columns, word):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    said = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        said += part
        if word and word.encode() in said:
            os.write(terminal, b"\x03")
            word = None
    return said.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


parser = argparse.ArgumentParser()
parser.add_argument("--keys", metavar="WORD")
parser.add_argument("--columns", type=int, default=80)
parser.add_argument("--raw", help="file for all that was drawn")
parser.add_argument("command", nargs=argparse.REMAINDER)
given = parser.parse_args()
said, status = run(given.command, given.columns, given.keys)
if given.raw:
    with open(given.raw, "w", encoding="utf-8", newline="") as file:
        file.write(said)
sys.stdout.write("\n".join(screen(said)))
print(f"status {status}")
