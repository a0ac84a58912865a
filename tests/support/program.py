"""A backend written from the protocol's documentation only, with the standard library, as if in another language.

It executes Identity: it copies the input file to the output file. The argument names what it does wrong.
"""

# ruff: noqa: C901, PLR0912, PTH102, PTH123, PTH211, T201 - one branch per misbehaviour, in plain Python

import json
import os
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "right"


def say(**answer):
    print(json.dumps(answer), flush=True)


def copy(source, target):
    with open(source, "rb") as read, open(target, "xb") as write:
        write.write(read.read())


def answer(request, number, files):
    if MODE == "no_file":
        pass
    elif MODE == "link":
        os.symlink(files["inputs"][0], files["outputs"][0])
    elif MODE == "pipe":
        os.mkfifo(files["outputs"][0])
    elif MODE == "folder":
        os.mkdir(files["outputs"][0])
    elif MODE == "broken_file":
        with open(files["outputs"][0], "wb") as write:
            write.write(b"\xff\xff no tensor")
    elif MODE == "empty_file":
        open(files["outputs"][0], "wb").close()
    else:
        copy(files["inputs"][0], files["outputs"][0])
    if MODE == "rubbish":
        print("Segmentation violation in module 7", flush=True)
    elif MODE == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    elif MODE == "wrong_id":
        say(id=request["id"] + 1000, data_set=number, status="ok", outputs=["tensor(float)"])
    elif MODE == "wrong_data_set":
        say(id=request["id"], data_set=number + 1, status="ok", outputs=["tensor(float)"])
    elif MODE == "bad_status":
        say(id=request["id"], data_set=number, status="fine", outputs=["tensor(float)"])
    elif MODE == "no_data_set":
        say(id=request["id"], status="ok", outputs=["tensor(float)"])
    elif MODE == "bad_type":
        say(id=request["id"], data_set=number, status="ok", outputs=["tensor(real)"])
    else:
        say(id=request["id"], data_set=number, status="ok", outputs=["tensor(float)"], seconds=0.001)
    if MODE == "twice" or (MODE == "twice_at_once" and number == 0):
        say(id=request["id"], data_set=number, status="ok", outputs=["tensor(float)"])


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "describe":
            if MODE == "no_description":
                say(protocol=2)
            elif MODE == "refuses":
                say(protocol=2, message="no licence", advice="buy one")
            elif MODE == "other_protocol":
                say(protocol=3, description={"name": "program", "version": "3"})
            elif MODE == "says_more":
                twice = 2 * json.dumps({"protocol": 2, "description": {"name": "program", "version": "3"}})
                os.write(1, twice.replace("}{", "}\n{").encode() + b"\n")
            else:
                say(protocol=2, description={"name": "program", "version": "3"})
        elif MODE == "declines":
            say(id=request["id"], status="unsupported", message="not\n  today")
        elif MODE == "exits":
            sys.exit("out of licences")
        elif MODE == "eats_memory":
            hoard = []
            while True:
                hoard.append(bytearray(b"x") * (16 << 20))
        elif MODE == "lingers":
            time.sleep(3600)
        else:
            for number, files in enumerate(request["data_sets"]):
                answer(request, number, files)


main()
