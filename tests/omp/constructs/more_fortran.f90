! Loops, reductions, tasks and locks from Fortran.
program loops
    use omp_lib
    implicit none
    integer :: i, total, at, members
    integer(kind=8) :: product
    integer(kind=omp_lock_kind) :: lock
    integer(kind=omp_nest_lock_kind) :: nest
    real(kind=8) :: values(100)

    total = 0
    members = 0
    call omp_set_num_threads(4)
    !$omp parallel reduction(+:members)
    members = 1
    !$omp do reduction(+:total) schedule(dynamic, 3)
    do i = 1, 100
        total = total + i
        values(i) = sqrt(real(i, 8))
    end do
    !$omp end do
    !$omp end parallel
    if (total /= 5050 .or. members /= 4) stop 1
    if (abs(values(81) - 9.0d0) > 1.0d-12) stop 2

    at = 0
    !$omp parallel do ordered schedule(static, 2)
    do i = 1, 50
        !$omp ordered
        at = at + 1
        if (at /= i) stop 3
        !$omp end ordered
    end do

    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    product = 1
    !$omp parallel
    !$omp single
    do i = 1, 15
        !$omp task firstprivate(i) shared(product)
        call omp_set_lock(lock)
        call omp_set_nest_lock(nest)
        product = product * i
        call omp_unset_nest_lock(nest)
        call omp_unset_lock(lock)
        !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    call omp_destroy_nest_lock(nest)
    call omp_destroy_lock(lock)
    if (product /= 1307674368000_8) stop 4

    total = 0
    !$omp parallel workshare
    values = 1.0d0
    !$omp end parallel workshare
    if (sum(values) /= 100.0d0) stop 5

    total = 3
    call on_device()
    call on_device(total)
    if (total /= 8) stop 6
contains
    subroutine on_device(given)
        integer, optional :: given
        logical :: is_given
        is_given = present(given)
        !$omp target has_device_addr(given)
        if (is_given) given = given + 5
        !$omp end target
    end subroutine
end program loops
