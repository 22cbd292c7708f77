"""Makes Doxygen's comments of the plain ones in our headers, keeping the lines where they are.

The comment at the head of a file describes the file; one that stands before a declaration describes it; one behind a
member describes the member. Inside function bodies, at the end of a block and after a blank line nothing is described.
usage: doxygen_filter.py FILE, the result on standard output
"""
import re
import sys
from pathlib import Path

LINE_COMMENT = re.compile(r'^(\s*)//(?!/)\s?(.*)$')
TRAILING = re.compile(r'^(.*[;,{}\w)])(\s+)//(?!/)\s?(.*)$')
RULER = re.compile(r'-{8,}$')


def convert(name, lines):
    out = []
    i = 0
    head = True
    while i < len(lines):
        line = lines[i]
        match = LINE_COMMENT.match(line)
        if not match:
            if line.strip():
                head = False
            trailing = TRAILING.match(line)
            if trailing and not line.lstrip().startswith(('#', 'return', '}')):
                indent = trailing.start(3)
                out.append(f'{trailing[1]}{trailing[2]}///< {trailing[3]}')
                # What goes on in the next line, below the first, belongs to it.
                while i + 1 < len(lines) and (more := LINE_COMMENT.match(lines[i + 1])) and len(more[1]) > 8 \
                        and len(more[1]) >= indent - 4:
                    i += 1
                    out.append(f'{more[1]}///< {more[2]}')
            else:
                out.append(line)
            i += 1
            continue
        block = []
        while i < len(lines) and (match := LINE_COMMENT.match(lines[i])):
            block.append((match[1], match[2]))
            i += 1
        following = lines[i].strip() if i < len(lines) else ''
        if head:
            # Doxygen needs the command on a line of its own; #pragma once pays for it.
            out.append(f'/// @file {name}')
            out += [f'{indent}/// {text}' for indent, text in block]
            if following == '#pragma once':
                i += 1
            head = False
        elif not following or re.match(r'}|#(?!define)', following) or RULER.search(block[0][1]):
            out += [f'{indent}// {text}' for indent, text in block]
        else:
            out += [f'{indent}/// {text}' for indent, text in block]
    return out


def convert_c(name, lines):
    """The same for C, whose comments are blocks."""
    out = []
    for i, line in enumerate(lines):
        if i == 0 and line.startswith('/* '):
            out += [f'/** @file {name}', f' * {line[3:]}']
            continue
        line = re.sub(r'^(\s*)/\*(?= )', r'\1/**', line)
        out.append(re.sub(r'(?<=[;,{}\w)])(\s+)/\*(?= )', r'\1/**<', line))
    # The line that @file took is given back by the first empty one.
    if '' in out and len(out) > len(lines):
        out.remove('')
    return out


def main():
    path = Path(sys.argv[1])
    rewrite = {'.h': convert_c, '.hpp': convert}.get(path.suffix, lambda _, lines: lines)
    print('\n'.join(rewrite(path.name, path.read_text().splitlines())))


if __name__ == '__main__':
    main()
