#!/usr/bin/env python3
"""Prints the assembly of the versions of older releases: names that gcc's library has too, for programs that were linked to it.

usage: versions.py LIBGOMP_MAP LIBOMP_MAP
They are in the nodes of LIBOMP_MAP, which are named and filled as those of LIBGOMP_MAP, without the names that LIBOMP_MAP keeps
local. gcc's locks of OMP_1.0 had another form; clang's have the present one under both versions.
"""
import re
import sys
from pathlib import Path

MACRO = r'''
#if defined(__x86_64__)
#define FULT_JUMP jmp
#elif defined(__aarch64__)
#define FULT_JUMP b
#endif
.macro older name, version
    .type fult_\name\()_\version, %function
    .globl fult_\name\()_\version
fult_\name\()_\version:
    FULT_JUMP \name
    .size fult_\name\()_\version, . - fult_\name\()_\version
    .symver fult_\name\()_\version, \name\()@\version
.endm
.section .note.GNU-stack, "", %progbits
.text'''


def names_by_node(path):
    text = re.sub(r'#.*', '', Path(path).read_text())
    return {node: re.findall(r'(\w+);', body) for node, body in re.findall(r'^([\w.]+) \{(.*?)\}', text, re.M | re.S)}


gomp, omp = (names_by_node(path) for path in sys.argv[1:])
gomp['OMP_1.0'] += [name for name in gomp['OMP_3.0'] if re.search(r'_(nest_)?lock_?$', name)]
print(MACRO)
for node in omp:
    for name in sorted(set(gomp.get(node, ())) - set(omp['VERSION'])):
        print(f'older {name}, {node}')
