#!/usr/bin/env python3
"""Writes the wrappers of all MPI functions, from the mpi.h of one MPI: each reaches MPI in one of the ways of mpi/calls.hpp. They have
both names, MPI_ and PMPI_.

usage: wrappers.py [--list] OUTPUT -- COMPILER [ARGUMENT ...]
  --list   writes a table instead, NAME WAY a line, for the tests and for docs/mpi.md
"""
import re
import subprocess
import sys
from pathlib import Path

# Written by hand: mpi/own.hpp.
OWN = {'Init', 'Init_thread', 'Query_thread', 'Finalize', 'Wait', 'Waitall', 'Waitany', 'Waitsome', 'Sendrecv', 'Sendrecv_c',
       'Sendrecv_replace', 'Probe', 'Mprobe', 'Session_init'}

# Not wrapped: callable at any time by any thread, by the standard; or never called by a program, but passed to MPI.
FREE = re.compile(r'Initialized|Finalized|Get_(library_)?version|Is_thread_main|Get_address|Address|Pcontrol|Abort|T_.*|.*_[cf]2[cf]'
                  r'(08)?|.*_f082[cf]|.*_(DUP|NULL_COPY|NULL_DELETE)_FN|.*DUP_FN|NULL_COPY_FN|NULL_DELETE_FN|CONVERSION_FN_NULL(_c)?')

# May wait for other ranks or for the file system, without a nonblocking form.
APART = {
    'Buffer_detach', 'Cart_create', 'Cart_sub', 'Close_port', 'Comm_accept', 'Comm_connect', 'Comm_create', 'Comm_create_from_group',
    'Comm_create_group', 'Comm_disconnect', 'Comm_dup', 'Comm_dup_with_info', 'Comm_free', 'Comm_join', 'Comm_set_info', 'Comm_spawn',
    'Comm_spawn_multiple', 'Comm_split', 'Comm_split_type', 'Dist_graph_create', 'Dist_graph_create_adjacent', 'Graph_create',
    'Intercomm_create', 'Intercomm_create_from_groups', 'Intercomm_merge', 'Lookup_name', 'Open_port', 'Publish_name',
    'Sendrecv_replace_c', 'Session_finalize', 'Unpublish_name', 'Win_allocate', 'Win_allocate_shared', 'Win_complete',
    'Win_create', 'Win_create_dynamic', 'Win_fence', 'Win_flush', 'Win_flush_all', 'Win_flush_local', 'Win_flush_local_all',
    'Win_free', 'Win_lock', 'Win_lock_all', 'Win_post', 'Win_set_info', 'Win_start', 'Win_unlock', 'Win_unlock_all', 'Win_wait'}
APART_FILES = re.compile(r'File_(?!get_|set_errhandler|create_errhandler|call_errhandler)')

# Repeated until they succeed, which the parameter says.
TRIES = {'Test': 'flag', 'Testall': 'flag', 'Testany': 'flag', 'Testsome': 'outcount', 'Iprobe': 'flag', 'Improbe': 'flag',
         'Request_get_status': 'flag', 'Win_test': 'flag'}

# Where the nonblocking form has another name than I + the name.
NONBLOCKING = {'Comm_dup': 'Comm_idup', 'Comm_dup_with_info': 'Comm_idup_with_info'}

MAKES_WINDOW = re.compile(r'Win_(create|create_dynamic|allocate|allocate_shared)(_c)?')

MAKES_PERSISTENT_COLLECTIVE = re.compile(r'(?!P?(send|recv)_|[BSR]?send_|Recv_)\w+_init(_c)?', re.IGNORECASE)

# Their nonblocking form is wrong in one MPI where a rank is a neighbor twice.
TO_NEIGHBORS = re.compile(r'Neighbor_alltoall[vw]?(_c)?')

SETS_HANDLER = re.compile(r'(Comm|Session)_set_errhandler|Errhandler_set')


class Function:
    """A prototype: the type of its result, its name without MPI_, and the text of its parameters."""

    def __init__(self, result, name, parameters):
        self.result = result
        self.name = name
        self.text = ' '.join(parameters.split())

    def names(self):
        """Those of its parameters."""
        if self.text == 'void':
            return []
        return [re.search(r'(\w+)\s*(?:\[[^]]*\]\s*)*$', each)[1] for each in split_commas(self.text)]


def split_commas(text):
    """At the commas outside of parentheses."""
    depth, parts = 0, ['']
    for c in text:
        depth += (c == '(') - (c == ')')
        if c == ',' and depth == 0:
            parts.append('')
        else:
            parts[-1] += c
    return [' '.join(part.split()) for part in parts]


def read_header(compiler):
    """{name: Function} for each function with a profiling entry."""
    source = '#define OMPI_SKIP_MPICXX 1\n#define MPICH_SKIP_MPICXX 1\n#include <mpi.h>\n'
    text = subprocess.run([*compiler, '-E', '-P', '-x', 'c', '-'], input=source, capture_output=True, text=True, check=True).stdout
    text = re.sub(r'__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)', ' ', text)
    found = {}
    for result, prefix, name, parameters in re.findall(r'\b(\w+)\s+(P?)MPI_(\w+)\s*\(([^;{}]*)\)\s*;', text):
        found.setdefault(prefix, {})[name] = Function(result, name, parameters)
    return {name: function for name, function in found.get('', {}).items() if name in found.get('P', {})}


def nonblocking_form(function, functions):
    """Its name, where the header has one that takes the same parameters and a request."""
    name = NONBLOCKING.get(function.name, 'I' + function.name[0].lower() + function.name[1:])
    form = functions.get(name)
    if not form:
        return None
    wanted = [each for each in function.names() if each != 'status']
    return name if form.names()[-1:] == ['request'] and len(form.names()) == len(wanted) + 1 else None


def way_of(function, functions):
    name = function.name
    if name in OWN:
        return 'own'
    if FREE.fullmatch(name) or function.result != 'int': # the others return times, handles or addresses
        return 'free'
    if nonblocking_form(function, functions):
        return 'run_as_request'
    if name in TRIES:
        return 'call_and_poll'
    if name in APART or name.removesuffix('_c') in APART or APART_FILES.match(name):
        return 'call_on_thread'
    return 'call_locked'


def facts(function):
    """The initializer of its call_facts."""
    names = function.names()
    fields = [f'.name = "MPI_{function.name}"']
    for name, relation in (('source', 'from rank'), ('dest', 'to rank'), ('root', 'root')):
        if name in names and len(fields) == 1:
            fields += [f'.relation = "{relation}"', f'.peer = {name}']
    if 'tag' in names:
        fields += ['.has_tag = true', '.tag = tag']
    if 'comm' in names:
        fields += ['.has_comm = true', '.comm = comm']
    return '{' + ', '.join(fields) + '}'


def received_from_nowhere(function, call):
    """The nonblocking form of MPICH 4.0 does not store the status of a receive from MPI_PROC_NULL."""
    for name, value in (('source', 'source == MPI_PROC_NULL'), ('message', '*message == MPI_MESSAGE_NO_PROC')):
        if name in function.names() and 'status' in function.names():
            return f'if ({value})\n        return call_locked({call});\n    '
    return ''


def body(function, functions):
    arguments = ', '.join(function.names())
    call = f'[&] {{ return FULT_BELOW({function.name})({arguments}); }}'
    way = way_of(function, functions)
    if way == 'own':
        return f'return own::{function.name}({arguments});'
    if way == 'run_as_request':
        form = nonblocking_form(function, functions)
        status = 'status' if 'status' in function.names() else 'MPI_STATUS_IGNORE'
        if TO_NEIGHBORS.fullmatch(function.name):
            before = (f'if (own::has_a_neighbor_twice(comm))\n        return call_on_thread("MPI_{function.name}", {call});\n    ')
        else:
            before = received_from_nowhere(function, call)
        started = ', '.join([name for name in function.names() if name != 'status'] + ['fult_request'])
        return (before + f'return run_as_request({facts(function)}, {status},\n'
                f'        [&](MPI_Request *fult_request) {{ return FULT_BELOW({form})({started}); }});')
    if way == 'call_and_poll':
        return f'return call_and_poll({TRIES[function.name]}, {call});'
    if MAKES_WINDOW.fullmatch(function.name) or function.name == 'Win_free':
        return f'return call_on_thread_for_window("MPI_{function.name}", {-1 if function.name == "Win_free" else 1}, {call});'
    if way == 'call_on_thread':
        return f'return call_on_thread("MPI_{function.name}", {call});'
    before = 'the_engine().errors_may_return();\n    ' if SETS_HANDLER.fullmatch(function.name) else ''
    if MAKES_PERSISTENT_COLLECTIVE.fullmatch(function.name):
        before = 'own::made_a_persistent_collective();\n    '
    return f'{before}return call_locked({call});'


def wrappers(functions):
    yield '// Written by mpi/wrappers.py.\n#include "mpi/calls.hpp"\n#include "mpi/own.hpp"\n\nusing namespace fult::mpi;\n'
    # gcc finds that the wrappers throw nothing, and wants their aliases to be declared so; clang refuses that, as mpi.h does not
    yield '#ifndef __clang__\n#pragma GCC diagnostic ignored "-Wmissing-attributes"\n#endif\n'
    for name in sorted(functions):
        if way_of(functions[name], functions) != 'free':
            text = functions[name].text
            yield f'FULT_API int MPI_{name}({text}) {{\n    {body(functions[name], functions)}\n}}'
            yield f'FULT_API int PMPI_{name}({text}) __attribute__((alias("MPI_{name}")));\n'


def main():
    arguments = sys.argv[1:]
    as_list = arguments[0] == '--list'
    output, separator, *compiler = arguments[as_list:]
    if separator != '--':
        sys.exit(__doc__)
    functions = read_header(compiler)
    if 'Send' not in functions:
        sys.exit('wrappers.py: mpi.h has no MPI_Send with a profiling entry: it is none that this script can read')
    lines = [f'MPI_{name} {way_of(functions[name], functions)}' for name in sorted(functions)] if as_list else wrappers(functions)
    Path(output).write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
