! Tasks, loops, reductions, locks, functions and control variables from Fortran.
program fortran
    use omp_lib
    implicit none
    call regions
    call tasks
    call loops
    call locks
    call functions
    call events
    call allocators
contains
    subroutine check(condition, number)
        logical, intent(in) :: condition
        integer, intent(in) :: number
        if (.not. condition) then
            print *, 'check', number, 'failed'
            stop 1
        end if
    end subroutine

    recursive integer function fib(n) result(value)
        integer, intent(in) :: n
        integer :: a, b
        if (n < 2) then
            value = n
            return
        end if
        !$omp task shared(a)
        a = fib(n - 1)
        !$omp end task
        !$omp task shared(b)
        b = fib(n - 2)
        !$omp end task
        !$omp taskwait
        value = a + b
    end function

    subroutine regions
        integer :: members, i
        real :: big(2000)
        members = 0
        !$omp parallel reduction(+:members) private(big)
        big = real(omp_get_thread_num())
        members = members + 1
        call check(big(2000) == real(omp_get_thread_num()), 1)
        !$omp end parallel
        call check(members == omp_get_max_threads(), 2)
        do i = 1, 200
            !$omp parallel num_threads(3)
            !$omp barrier
            !$omp end parallel
        end do
    end subroutine

    subroutine tasks
        integer :: answer, i, total, x
        integer, allocatable :: v(:)
        total = 0
        allocate(v(100))
        !$omp parallel
        !$omp single
        answer = fib(15)
        v = 0
        !$omp taskloop grainsize(7)
        do i = 1, 100
            v(i) = v(i) + i
        end do
        !$omp end taskloop
        !$omp taskgroup task_reduction(+:total)
        do i = 1, 100
            !$omp task in_reduction(+:total) firstprivate(i)
            total = total + i
            !$omp end task
        end do
        !$omp end taskgroup
        x = 0
        !$omp task depend(out:x) shared(x)
        x = 1
        !$omp end task
        !$omp task depend(inout:x) shared(x)
        x = x + 1
        !$omp end task
        !$omp taskwait
        !$omp end single
        !$omp end parallel
        call check(answer == 610, 10)
        call check(sum(v) == 5050, 11)
        call check(total == 5050, 12)
        call check(x == 2, 13)
    end subroutine

    subroutine loops
        integer :: i, j, next, last
        integer(8) :: total
        total = 0
        next = 1
        !$omp parallel do schedule(dynamic, 3) reduction(+:total) lastprivate(last)
        do i = 1, 1000
            total = total + i
            last = i
        end do
        call check(total == 500500 .and. last == 1000, 20)
        !$omp parallel do ordered schedule(static, 2)
        do i = 100, 1, -1
            !$omp ordered
            call check(next == 101 - i, 21)
            next = next + 1
            !$omp end ordered
        end do
        total = 0
        !$omp parallel do collapse(2) schedule(guided) reduction(+:total)
        do i = 1, 20
            do j = 1, 20
                total = total + i * j
            end do
        end do
        call check(total == 44100, 22)
        !$omp parallel
        !$omp workshare
        total = 7
        !$omp end workshare
        !$omp end parallel
        call check(total == 7, 23)
    end subroutine

    subroutine locks
        integer(omp_lock_kind) :: lock
        integer(omp_nest_lock_kind) :: nest
        integer :: a, b, i
        a = 0
        b = 0
        call omp_init_lock(lock)
        call omp_init_nest_lock(nest)
        !$omp parallel private(i)
        do i = 1, 500
            call omp_set_lock(lock)
            a = a + 1
            call omp_unset_lock(lock)
            call omp_set_nest_lock(nest)
            call check(omp_test_nest_lock(nest) == 2, 30)
            b = b + 1
            call omp_unset_nest_lock(nest)
            call omp_unset_nest_lock(nest)
            !$omp critical
            a = a + 1
            !$omp end critical
        end do
        !$omp end parallel
        call check(b == 500 * omp_get_max_threads(), 31)
        call omp_destroy_lock(lock)
        call omp_destroy_nest_lock(nest)
    end subroutine

    subroutine functions
        integer(omp_sched_kind) :: kind
        integer :: chunk
        character(len=40) :: text
        call check(.not. omp_in_parallel(), 40)
        call check(omp_get_level() == 0, 41)
        call omp_set_schedule(omp_sched_guided, 5)
        call omp_get_schedule(kind, chunk)
        call check(kind == omp_sched_guided .and. chunk == 5, 42)
        call omp_set_dynamic(.false.)
        call check(.not. omp_get_dynamic(), 43)
        call omp_set_num_threads(3)
        call check(omp_get_max_threads() == 3, 44)
        call omp_set_max_active_levels(2)
        call check(omp_get_max_active_levels() == 2, 45)
        ! time: a lower bound
        call check(omp_get_wtime() > 0d0 .and. omp_get_wtick() > 0d0, 46)
        call check(omp_get_num_procs() >= 1, 47)
        call omp_set_affinity_format('level %L!')
        call check(omp_get_affinity_format(text) == 9, 48)
        call check(text == 'level %L!', 49)
        call check(omp_capture_affinity(text, 'a%Lb') == 3, 50)
        call check(text == 'a0b', 51)
    end subroutine

    subroutine events
        integer(omp_event_handle_kind) :: event
        integer :: x, i, seen
        do i = 1, 100
            x = 0
            !$omp parallel num_threads(2) shared(event)
            !$omp single
            !$omp task detach(event) depend(out:x) shared(x)
            x = 1
            !$omp end task
            !$omp task shared(event)
            call omp_fulfill_event(event)
            !$omp end task
            !$omp task depend(in:x) shared(x, seen)
            seen = x
            !$omp end task
            !$omp end single
            !$omp end parallel
            call check(seen == 1, 60)
        end do
    end subroutine

    subroutine allocators
        integer(omp_allocator_handle_kind) :: handle
        type(omp_alloctrait) :: traits(1)
        traits(1) = omp_alloctrait(omp_atk_alignment, 256)
        handle = omp_init_allocator(omp_default_mem_space, 1, traits)
        call check(handle /= omp_null_allocator, 70)
        call omp_set_default_allocator(handle)
        call check(omp_get_default_allocator() == handle, 71)
        call omp_set_default_allocator(omp_default_mem_alloc)
        call omp_destroy_allocator(handle)
    end subroutine
end program
