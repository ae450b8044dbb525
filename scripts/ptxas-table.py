#!/usr/bin/env python3
"""ptxas-table.py [--update] TABLE COMPILER LOG...: what each kernel needs, beside the table.

The logs are what `nvcc -Xptxas -v` writes. The stack and the spills of a kernel may never exceed the
table, its registers not where the table was made by the same compiler. A kernel that the table does
not have, or that is gone, fails too: the table is to be updated.
"""

import re
import subprocess
import sys
from pathlib import Path

from kernel_names import short_name

COLUMNS = ("registers", "stack", "spill_stores", "spill_loads")


def read_log(path):
    """{(architecture, kernel): [registers, stack, spill stores, spill loads]}"""
    text = subprocess.run(["c++filt"], input=Path(path).read_text(), capture_output=True, text=True,
                          check=True).stdout
    rows = {}
    for entry in re.split(r"Compiling entry function '", text)[1:]:
        kernel, architecture = re.match(r"(.*)' for '(\w+)'", entry).groups()
        name = short_name(kernel)
        if name is None:
            continue
        # Its own numbers come first; those of functions that it calls follow.
        numbers = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                            r"(\d+) bytes spill loads\s.*?Used (\d+) registers", entry, re.DOTALL)
        stack, stores, loads, registers = map(int, numbers.groups())
        old = rows.get((architecture, name), [0] * 4)
        rows[architecture, name] = [max(a, b)
                                    for a, b in zip(old, [registers, stack, stores, loads])]
    return rows


def read_table(path):
    """The compiler that made the table, and its rows."""
    compiler, rows = "", {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("# compiler: "):
            compiler = line.removeprefix("# compiler: ")
        elif line and line[0] not in "#":
            architecture, *numbers, kernel = line.split(None, 5)
            if architecture != "arch":
                rows[architecture, kernel] = [int(n) for n in numbers]
    return compiler, rows


def write_table(path, compiler, rows):
    lines = ["# What the public kernels need: registers a thread, and bytes of stack and spills.",
             "# Written by scripts/cuda-check --update, checked by scripts/cuda-check.",
             f"# compiler: {compiler}", ""]
    layout = "{:6}  {:>9}  {:>5}  {:>12}  {:>11}  {}"
    lines.append(layout.format("arch", *COLUMNS, "kernel"))
    lines += [layout.format(arch, *numbers, kernel)
              for (arch, kernel), numbers in sorted(rows.items())]
    path.write_text("\n".join(lines) + "\n")


def main():
    arguments = sys.argv[1:]
    update = arguments[0] == "--update"
    table, compiler, *logs = arguments[1:] if update else arguments
    table = Path(table)
    rows = {}
    for log in logs:
        rows.update(read_log(log))
    if not rows:
        print("No kernel was compiled: does tests/cuda/kernels.cpp instantiate any?")
        print("0 passed, 1 failed")
        return 1
    if update:
        write_table(table, compiler, rows)
        print(f"Wrote {table} ({len(rows)} kernels)")
        return 0

    table_compiler, expected = read_table(table)
    same_compiler = compiler == table_compiler
    if not same_compiler:
        print(f"The table was made with {table_compiler}, this is {compiler}: "
              "registers are not compared.")
    failed = 0
    for key in sorted(rows.keys() | expected.keys()):
        arch, kernel = key
        if key not in expected:
            failed += 1
            print(f"{arch} {kernel}: not in the table")
        elif key not in rows:
            failed += 1
            print(f"{arch} {kernel}: in the table, but not compiled")
        else:
            worse = [f"{column} {old} -> {new}"
                     for column, old, new in zip(COLUMNS, expected[key], rows[key])
                     if new > old and (same_compiler or column != "registers")]
            better = same_compiler and not worse and rows[key] != expected[key]
            failed += bool(worse)
            if worse or better:
                changes = worse or [f"{column} {old} -> {new}" for column, old, new
                                    in zip(COLUMNS, expected[key], rows[key]) if new != old]
                print(f"{arch} {kernel}: {'WORSE' if worse else 'better'}: {', '.join(changes)}")
    if failed:
        print("If this is meant: scripts/cuda-check --update, and say why in the commit.")
    print(f"{len(rows.keys() | expected.keys()) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
