! Blocking calls of OpenMP tasks by each of MPI's Fortran bindings: more tasks than threads wait in each call, so that the program
! does not end where a call blocks its thread. On two ranks. BINDING is 1 (mpif.h), 2 (use mpi) or 3 (use mpi_f08).
#if BINDING == 3
#define OF(status, field) status%field
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status), dimension(n)
#define COMMUNICATOR type(MPI_Comm)
#define REQUESTS(n) type(MPI_Request), dimension(n)
#else
#define OF(status, field) status(field)
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer, dimension(MPI_STATUS_SIZE, n)
#define COMMUNICATOR integer
#define REQUESTS(n) integer, dimension(n)
#endif
#if BINDING == 1
#define USE_MPI use omp_lib
#define INCLUDE_MPI include 'mpif.h'
#elif BINDING == 2
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#endif

program fortran_tasks
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: error, provided
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
    call check(error == MPI_SUCCESS .and. provided == MPI_THREAD_FUNNELED, 1)
    call ends_of_one_rank
    call between_ranks
    call several_requests
    call collectives
    call communicators
    call MPI_Finalize(error)
    call check(error == MPI_SUCCESS, 2)
contains
    subroutine check(condition, number)
        logical, intent(in) :: condition
        integer, intent(in) :: number
        integer :: ignored
        if (.not. condition) then
            print *, 'check', number, 'failed'
            call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
        end if
    end subroutine

    integer function this_rank()
        integer :: ignored
        call MPI_Comm_rank(MPI_COMM_WORLD, this_rank, ignored)
    end function

    ! The sends come first, and each needs its receive.
    subroutine ends_of_one_rank
        integer, parameter :: pairs = 50
        integer :: i, me, got(pairs), code
        STATUS :: how
        me = this_rank()
        got = -1
        !$omp parallel num_threads(2)
        !$omp single
        do i = 1, pairs
            !$omp task firstprivate(i) private(code)
            call MPI_Ssend(i, 1, MPI_INTEGER, me, 1000 + i, MPI_COMM_WORLD, code)
            call check(code == MPI_SUCCESS, 10)
            !$omp end task
        end do
        do i = 1, pairs
            !$omp task firstprivate(i) private(code, how) shared(got)
            call MPI_Recv(got(i), 1, MPI_INTEGER, MPI_ANY_SOURCE, 1000 + i, MPI_COMM_WORLD, how, code)
            call check(code == MPI_SUCCESS, 11)
            call check(OF(how, MPI_SOURCE) == me .and. OF(how, MPI_TAG) == 1000 + i, 12)
            !$omp end task
        end do
        !$omp end single
        !$omp end parallel
        do i = 1, pairs
            call check(got(i) == i, 13)
        end do
    end subroutine

    subroutine between_ranks
        integer, parameter :: pairs = 20
        integer :: i, me, other, got, length, code
        STATUS :: how
        me = this_rank()
        other = 1 - me
        !$omp parallel num_threads(2)
        !$omp single
        do i = 1, pairs
            !$omp task firstprivate(i) private(code, how, got, length)
            got = -1
            if (me == 0) then
                call MPI_Probe(other, 2000 + i, MPI_COMM_WORLD, how, code)
                call MPI_Get_count(how, MPI_INTEGER, length, code)
                call check(length == 1 .and. OF(how, MPI_TAG) == 2000 + i, 20)
                call MPI_Recv(got, 1, MPI_INTEGER, other, 2000 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
                call check(got == 100 + i, 21)
                call MPI_Send(-i, 1, MPI_INTEGER, other, 2000 + i, MPI_COMM_WORLD, code)
            else
                call MPI_Sendrecv(100 + i, 1, MPI_INTEGER, other, 2000 + i, got, 1, MPI_INTEGER, other, 2000 + i, &
                                  MPI_COMM_WORLD, how, code)
                call check(got == -i .and. OF(how, MPI_SOURCE) == other, 22)
            end if
            call check(code == MPI_SUCCESS, 23)
            !$omp end task
        end do
        !$omp end single
        !$omp end parallel
    end subroutine

    subroutine several_requests
        integer, parameter :: waiters = 10, each = 3
        integer :: w, k, me, other, got(each), which, code
        REQUESTS(each) :: requests
        STATUSES(each) :: how
        me = this_rank()
        other = 1 - me
        !$omp parallel num_threads(2)
        !$omp single
        do w = 1, waiters
            !$omp task firstprivate(w) private(k, got, requests, how, which, code)
            got = -1
            do k = 1, each
                call MPI_Irecv(got(k), 1, MPI_INTEGER, other, 3000 + w * each + k, MPI_COMM_WORLD, requests(k), code)
            end do
            if (mod(w, 2) == 0) then
                call MPI_Waitall(each, requests, how, code)
            else
                call MPI_Wait(requests(1), MPI_STATUS_IGNORE, code)
                do k = 2, each
                    call MPI_Waitany(each, requests, which, MPI_STATUS_IGNORE, code)
                    call check(which >= 1 .and. which <= 3, 30) ! mpi_f08 of MPICH 4.0 counts from 0
                end do
            end if
            do k = 1, each
                call check(got(k) == 1000 * other + w * each + k, 31)
                call check(requests(k) == MPI_REQUEST_NULL, 32)
            end do
            call check(code == MPI_SUCCESS, 33)
            !$omp end task
        end do
        do w = waiters, 1, -1
            !$omp task firstprivate(w) private(k, code)
            do k = 1, each
                call MPI_Send(1000 * me + w * each + k, 1, MPI_INTEGER, other, 3000 + w * each + k, MPI_COMM_WORLD, code)
            end do
            !$omp end task
        end do
        !$omp end single
        !$omp end parallel
    end subroutine

    ! Of as many communicators, in opposite orders.
    subroutine collectives
        integer, parameter :: calls = 8
        integer :: i, k, me, summed, code
        COMMUNICATOR :: apart(calls)
        me = this_rank()
        do i = 1, calls
            call MPI_Comm_dup(MPI_COMM_WORLD, apart(i), code)
        end do
        !$omp parallel num_threads(2)
        !$omp single
        do k = 1, calls
            i = merge(k, calls + 1 - k, me == 0)
            !$omp task firstprivate(i) private(summed, code)
            summed = me + i
            call MPI_Allreduce(MPI_IN_PLACE, summed, 1, MPI_INTEGER, MPI_SUM, apart(i), code)
            call check(code == MPI_SUCCESS .and. summed == 2 * i + 1, 40)
            call MPI_Barrier(apart(i), code)
            summed = merge(i, -1, me == 1)
            call MPI_Bcast(summed, 1, MPI_INTEGER, 1, apart(i), code)
            call check(code == MPI_SUCCESS .and. summed == i, 41)
            !$omp end task
        end do
        !$omp end single
        !$omp end parallel
        do i = 1, calls
            call MPI_Comm_free(apart(i), code)
        end do
    end subroutine

    ! They have no nonblocking form.
    subroutine communicators
        integer :: me, length, code
        COMMUNICATOR :: alone
        me = this_rank()
        !$omp parallel num_threads(2)
        !$omp single
        !$omp task private(alone, length, code)
        call MPI_Comm_split(MPI_COMM_WORLD, me, 0, alone, code)
        call check(code == MPI_SUCCESS, 50)
        call MPI_Comm_size(alone, length, code)
        call check(length == 1, 51)
        call MPI_Comm_free(alone, code)
        !$omp end task
        !$omp end single
        !$omp end parallel
    end subroutine
end program
