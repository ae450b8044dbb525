#!/usr/bin/env python3
"""extract.py OUTPUT_DIR PAGE.md...: writes the C++ code blocks of the pages as files to compile.

A block is what stands between ```cpp and ```, and becomes C++ in one of three ways:

- A block with `int main` is a program of its own, which ctest runs.
- A block whose first line of code starts a declaration (`struct`, `template`, `namespace`, ...) is
  compiled at namespace scope.
- Any other block is a part of a function body. All of one page form one function, in the page's
  order, so that a block sees the variables of those before it.

The last two kinds of one page share one file, which includes gradsolve/gradsolve.hpp. What they
need and a reader need not see can stand in a block inside an HTML comment, <!-- ... -->. A block
that cannot compile is ```cpp no-compile. Error messages name the line of the page.

The paths of the files are printed, one a line; a file is written only when its text changes.
"""

import re
import sys
from pathlib import Path

DECLARATION = re.compile(
    r"(struct|class|enum|union|template|namespace|using|inline|constexpr|static|#include)\b"
    r"|#include")


def blocks(page):
    """Yields (line number, text) of each block to compile."""
    start, lines = None, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if start is not None:
            if line.strip() == "```":
                yield start, "\n".join(lines) + "\n"
                start, lines = None, []
            else:
                lines.append(line)
        elif line.strip() == "```cpp":
            start = number + 1
    if start is not None:
        sys.exit(f"{page}:{start - 1}: this code block does not end")


def first_code_line(text):
    for line in text.splitlines():
        if line.strip() and not line.strip().startswith("//"):
            return line.strip()
    return ""


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    print(path)


def extract(page, output):
    includes, declarations, body, programs = "", "", "", 0
    for line, text in blocks(page):
        text = f'#line {line} "{page}"\n{text}'
        code = text.split("\n", 1)[1]
        if re.search(r"\bint main\b", code):
            programs += 1
            write(output / f"{page.stem}_program_{programs}.cpp", text)
        elif DECLARATION.match(first_code_line(code)):
            declarations += text
        else:
            body += text
    if declarations or body:
        write(output / f"{page.stem}.cpp",
              "#include <gradsolve/gradsolve.hpp>\n" + declarations
              + f"void {re.sub(r'[^a-z0-9]', '_', page.stem.lower())}_page() {{\n{body}}}\n")


def main():
    output = Path(sys.argv[1])
    for page in sys.argv[2:]:
        extract(Path(page), output)


main()
