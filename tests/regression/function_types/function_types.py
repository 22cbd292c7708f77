#!/usr/bin/env python3
"""The library calls the functions of a program by their own types: clang's sanitizer of function types, and control-flow integrity, end
programs that do not. Only calls from code that the sanitizer has compiled are checked, so the source with these calls is compiled here.
usage: function_types.py PROGRAM SOURCE_ROOT CLANG LIBRARY LINK_ARGUMENTS..."""
import subprocess
import sys
import tempfile


def main():
    source, root, clang, library, *link = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        program = f'{folder}/values'
        checked = ['-fsanitize=function', '-fno-sanitize-recover=function']
        # The library's objects may be made of several sources: of two definitions the first is used, that of the source.
        link.append('-Wl,--allow-multiple-definition')
        built = subprocess.run([clang, '-std=c++20', '-O0', *checked, f'-I{root}', f'-I{root}/include', source,
                                f'{root}/fult/kernel/locals.cpp', library, *link, '-pthread', '-o', program],
                               capture_output=True, text=True)
        if 'libclang_rt' in built.stderr:
            print("clang's run-time library is not installed")
            return 77
        if built.returncode != 0:
            print(built.stderr)
            return 1
        return subprocess.run([program]).returncode


if __name__ == '__main__':
    sys.exit(main())
