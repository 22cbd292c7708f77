"""Makes Doxygen's comments of the plain ones in our headers, keeping the lines where they are.

The comment at the head of a file describes the file; one that stands before a declaration describes it; one behind a
member describes the member. Inside function bodies, at the end of a block and after a blank line nothing is described.
What is in namespace detail is left out, and so is a whole header that has nothing else.
usage: doxygen_filter.py FILE, the result on standard output
"""
import re
import sys
from pathlib import Path

LINE_COMMENT = re.compile(r'^(\s*)//(?!/)\s?(.*)$')
TRAILING = re.compile(r'^(.*[;,{}\w)])(\s+)//(?!/)\s?(.*)$')
RULER = re.compile(r'-{8,}$')
DETAIL = re.compile(r'(} // )?namespace (?:fult::)?detail\b')
# Of detail, but shown: the members of every handle, and those of the spinlock.
SHOWN = re.compile(r'(?:template <.*> )?class (?:FULT_API )?(?:task_owner|basic_spinlock)\b[^;]*$')
# Before a brace that does not open the body of a function.
SCOPE = re.compile(r'\s*(?:(?:template <.*> )?(?:class|struct|union|enum|namespace|extern)|: (?:public|private))\b')
NO_CODE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//.*')


def in_bodies(lines):
    """For each line, whether it begins inside the body of a function."""
    out = []
    bodies = []  # for each open brace, whether it is one of a body
    for line in lines:
        out.append(any(bodies))
        for brace in re.findall(r'[{}]', NO_CODE.sub('', line)):
            if brace == '{':
                bodies.append(not SCOPE.match(line))
            elif bodies:
                bodies.pop()
    return out


def without_internals(lines):
    """The lines, with empty ones for the contents of namespace detail."""
    if 'namespace fult::detail {' in lines and 'namespace fult {' not in lines:
        return [''] * len(lines)
    out = []
    hidden = inside = False
    for i, line in enumerate(lines):
        if edge := DETAIL.match(line):
            hidden = inside = not edge[1]
        elif inside and SHOWN.match(line):
            hidden = False
            above = i
            while above > 0 and LINE_COMMENT.match(lines[above - 1]):
                above -= 1
            out[above:] = lines[above:i]
        out.append('' if hidden and not edge else line)
        if inside and line == '};':
            hidden = True
    return out


def convert(name, lines):
    out = []
    i = 0
    head = True
    in_body = in_bodies(lines)
    while i < len(lines):
        line = lines[i]
        match = LINE_COMMENT.match(line)
        if not match:
            if line.strip():
                head = False
            trailing = TRAILING.match(line)
            if trailing and not in_body[i] and not line.lstrip().startswith(('#', '}')) and trailing[1][-1] not in '{}':
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
        elif not following or in_body[i - 1] or re.match(r'}|#(?!define)', following) or RULER.search(block[0][1]):
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
    lines = path.read_text().splitlines()
    if path.suffix == '.hpp':
        lines = convert(path.name, without_internals(lines))
    elif path.suffix == '.h':
        lines = convert_c(path.name, lines)
    print('\n'.join(lines))


if __name__ == '__main__':
    main()
