#!/bin/bash
# Checks the Promela models in this directory with spin: run.sh [--small|--deep] [MODEL...]   (MODEL: park, revoke, ...; default all)
#
# The head of each model lists its runs, one a line:
#     @true   NAME [np] [-Dflag...]    must be searched completely, without an error: seconds. --small runs these alone
#     @large  NAME [np] [-Dflag...]    likewise, but larger: not with --small
#     @deep   NAME [np] [-Dflag...]    likewise, but large: only with --deep (minutes, up to 6 GB each)
#     @mutant NAME [np] [-Dflag...]    one line is wrong (MUTANT_NAME): the search must find an error
# np: searches for non-progress cycles, else for assertions and invalid end states.
# Exit status: 0 all as it must be, 1 something is not, 77 (meson: skipped) spin or a C compiler is missing.
# Environment: CC (gcc), JOBS (searches at a time; the number of processors).
set -u
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-gcc}

# one search: model kind name [np] [flags...]; prints its line, status 1 if the outcome is wrong
run_one() {
    local model=$1 kind=$2 name=$3; shift 3
    # Errors are found in the first states of a search: to optimize it, or to clear a large table, takes longer than to run it.
    local optimize=-O1 table=24
    if [ "$kind" = mutant ]; then optimize=-O0 table=16; fi
    local search=-DSAFETY pan_flags="" memory=1024 flags=() verdict status=1 word states dir
    for word in "$@"; do
        if [ "$word" = np ]; then search=-DNP pan_flags=-l; else flags+=("$word"); fi
    done
    if [ "$kind" = mutant ]; then flags+=("-DMUTANT_$name"); fi
    if [ "$kind" = deep ]; then memory=6144 search+=" -DCOLLAPSE"; fi
    dir=$(mktemp -d "$work/$model.XXXXXX") && cp "$here/$model.pml" "$dir" && cd "$dir" || return 1

    if ! spin "${flags[@]}" -a "$model.pml" > log 2>&1 || grep -q 'Error:' log; then
        verdict="WRONG: spin rejects the model: $(grep -m1 -i error log)"
    elif ! $cc $optimize -w $search -DMEMLIM=$memory -o pan pan.c >> log 2>&1; then
        verdict="WRONG: $cc does not compile pan.c: $(grep -m1 -i error log)"
    else
        ./pan $pan_flags -m1000000 -w$table > out 2>&1
        local code=$? errors found
        errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' out)
        states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out)
        found=$(sed -n 's/^pan:1: \(assertion violated\|invalid end state\|non-progress cycle\).*/\1/p' out)
        if grep -q 'max search depth too small' out; then
            verdict="WRONG: truncated: max search depth too small"
        elif grep -q 'reached -DMEMLIM\|out of memory' out; then
            verdict="WRONG: truncated: more than $memory MB"
        elif [ $kind = mutant ]; then
            if [ "${errors:-0}" -gt 0 ] && [ -n "$found" ]; then
                verdict="fails, as it must: $found" status=0
            else
                verdict="WRONG: no error found in a model that is wrong"
            fi
        elif [ "$errors" != 0 ] || [ -n "$found" ]; then
            verdict="WRONG: ${found:-pan stopped: $(tail -n1 out)}"
        elif grep -q 'Search not completed' out || [ $code != 0 ]; then
            verdict="WRONG: search not completed"
        else
            verdict="no error" status=0
        fi
    fi
    printf '%-18s %-7s %-20s %10s states  %s\n' "$model" "$kind" "$name" "${states:--}" "$verdict"
    cd / && rm -rf "$dir"
    return $status
}

if [ "${1:-}" = --one ]; then shift; run_one "$@"; exit; fi

for tool in spin "${cc%% *}"; do
    if ! command -v "$tool" > /dev/null; then
        echo "run.sh: $tool is missing, the models are not checked; remedy: apt-get install spin gcc" >&2
        exit 77
    fi
done

all='park revoke levels sleep completion qlock barrier condition_variable group match ring timer fair poll idle join_gate work_ring omp_lock notice hold end cache'
kinds='true\|large\|mutant'
case ${1:-} in
--small) kinds=true; shift ;;
--deep) kinds+='\|deep'; shift ;;
esac
if [ $# = 0 ]; then set -- $all; fi

work=$(mktemp -d) || exit 1
export work
trap 'rm -rf "$work"' EXIT
status=0
for model in "$@"; do
    file=$here/$model.pml
    if [ ! -f "$file" ]; then
        echo "run.sh: there is no model $model; remedy: name one of $all" >&2
        exit 1
    fi
    # what follows the flags on such a line is its description
    sed -n "s/^ \* *@\($kinds\) /\1 /p" "$file" | while read -r kind name rest; do
        printf '%s %s %s' "$model" "$kind" "$name"
        for word in $rest; do
            case $word in np | -D*) printf ' %s' "$word" ;; *) break ;; esac
        done
        echo
    done >> "$work/runs"
    # a mutant that is written but not listed would never be run
    listed=$(sed -n 's/^ \* *@mutant \([A-Z0-9_]*\).*/\1/p' "$file" | sort -u)
    written=$(grep '^#' "$file" | grep -o 'MUTANT_[A-Z0-9_]*' | sed 's/MUTANT_//' | sort -u)
    if [ "$listed" != "$written" ]; then
        echo "run.sh: $model.pml: listed mutants differ from those in its #ifdefs:" \
            $(comm -3 <(echo "$listed") <(echo "$written")) >&2
        status=1
    fi
done
xargs -P "${JOBS:-$(nproc)}" -L 1 "$0" --one < "$work/runs" || status=1
if [ $status != 0 ]; then echo "run.sh: not all models are as they must be" >&2; fi
exit $status
