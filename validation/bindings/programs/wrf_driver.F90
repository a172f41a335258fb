! Calls a scheme as WRF's driver does: arrays (i,k,j) with halos and one level more, four tiles, one of them empty, two
! threads, all arguments by keyword.
!
! wrf_driver INPUT OUTPUT [constant]: with the last argument a constant is not that of WRF.
program wrf_driver
  use, intrinsic :: iso_c_binding, only: c_double, c_int
#ifdef GRAUPEL
  use module_mp_wsm6, only: wsm6, wsm6init
#else
  use module_mp_wsm5, only: wsm5, wsm5init
#endif
  implicit none

  integer, parameter :: halo = 5, fields = 14
  ! What stands in halos, and above the highest level.
  real, parameter :: outside = -12345.0
  real, parameter :: g = 9.81, cp = 7.*287./2., cpv = 4.*461.6, r_d = 287., r_v = 461.6, svpt0 = 273.15
  real, parameter :: ep_1 = r_v/r_d - 1., ep_2 = r_d/r_v, epsilon = 1.e-15, xls = 2.85e6, xlv = 2.5e6, xlf = 3.5e5
  real, parameter :: rhoair0 = 1.28, rhowater = 1000., rhosnow = 100., cliq = 4190., cice = 2106., psat = 610.78
  integer(c_int) :: numbers(4)
  real(c_double) :: length
  integer :: ids, ide, jds, jde, kds, kde, ims, ime, jms, jme, kms, kme, kts, kte
  integer :: i_start(4), i_end(4), j_start(4), j_end(4)
  integer :: tile, call_number, n, i, j, k, input, output
  real, allocatable :: state(:, :, :, :), surface(:, :, :), diagnosed(:, :, :, :)
  real :: gravity
  character(len=1000) :: path

#ifdef GRAUPEL
  call wsm6init(rhoair0, rhowater, rhosnow, cliq, cpv, 0, .true.)
#else
  call wsm5init(rhoair0, rhowater, rhosnow, cliq, cpv, .true.)
  call wsm5init(rhoair0, rhowater, rhosnow, cliq, cpv, .true.)
#endif
  call get_command_argument(1, path)
  open (newunit=input, file=trim(path), access="stream", form="unformatted", status="old", action="read")
  read (input) numbers, length
  ids = 1; jds = 1; kds = 1
  ide = numbers(1); jde = numbers(2); kde = numbers(3) + 1
  ims = ids - halo; ime = ide + halo
  jms = jds - halo; jme = jde + halo
  kms = kds; kme = kde
  kts = kds; kte = kde - 1
  allocate (state(ims:ime, kms:kme, jms:jme, fields), diagnosed(ims:ime, kms:kme, jms:jme, 4))
  allocate (surface(ims:ime, jms:jme, 7))
  state = outside; diagnosed = outside; surface = outside
  surface(ids:ide, jds:jde, :) = 0
  do n = 1, fields
#ifndef GRAUPEL
    if (n == 7) cycle
#endif
    if (n == 12) exit
    do k = kts, kte
      do j = jds, jde
        read (input) state(ids:ide, k, j, n)
      end do
    end do
  end do
  close (input)

  ! Tiles of different sizes.
  i_start = [ids, ids + ide/2, ids, ids]; i_end = [ids + ide/2 - 1, ide, ide, ids - 1]
  j_start = [jds, jds, jds + jde/3, jds]; j_end = [jds + jde/3 - 1, jds + jde/3 - 1, jde, jde]
  gravity = g
  if (command_argument_count() > 2) gravity = 9.8
  do call_number = 1, numbers(4)
!$omp parallel do private(tile) schedule(dynamic, 1) num_threads(2)
    do tile = 1, 4
#ifdef GRAUPEL
      call wsm6(th=state(:, :, :, 1), q=state(:, :, :, 2), qc=state(:, :, :, 3), qr=state(:, :, :, 4), &
           qi=state(:, :, :, 5), qs=state(:, :, :, 6), qg=state(:, :, :, 7), &
           graupel=surface(:, :, 6), graupelncv=surface(:, :, 7), &
#else
      call wsm5(th=state(:, :, :, 1), q=state(:, :, :, 2), qc=state(:, :, :, 3), qr=state(:, :, :, 4), &
           qi=state(:, :, :, 5), qs=state(:, :, :, 6), &
#endif
           den=state(:, :, :, 8), pii=state(:, :, :, 9), p=state(:, :, :, 10), delz=state(:, :, :, 11), &
           delt=real(length), g=gravity, cpd=cp, cpv=cpv, rd=r_d, rv=r_v, t0c=svpt0, ep1=ep_1, ep2=ep_2, &
           qmin=epsilon, xls=xls, xlv0=xlv, xlf0=xlf, den0=rhoair0, denr=rhowater, cliq=cliq, cice=cice, psat=psat, &
           rain=surface(:, :, 1), rainncv=surface(:, :, 2), snow=surface(:, :, 3), snowncv=surface(:, :, 4), &
           sr=surface(:, :, 5), refl_10cm=diagnosed(:, :, :, 1), diagflag=call_number == numbers(4), &
           do_radar_ref=1, has_reqc=1, has_reqi=1, has_reqs=1, re_cloud=diagnosed(:, :, :, 2), &
           re_ice=diagnosed(:, :, :, 3), re_snow=diagnosed(:, :, :, 4), &
           ids=ids, ide=ide, jds=jds, jde=jde, kds=kds, kde=kde, ims=ims, ime=ime, jms=jms, jme=jme, kms=kms, &
           kme=kme, its=i_start(tile), ite=i_end(tile), jts=j_start(tile), jte=j_end(tile), kts=kts, kte=kte)
    end do
!$omp end parallel do
  end do

  call get_command_argument(2, path)
  open (newunit=output, file=trim(path), access="stream", form="unformatted", status="replace", action="write")
  do n = 1, 7
#ifndef GRAUPEL
    if (n == 7) cycle
#endif
    call write_field(state(:, :, :, n))
  end do
  do n = 1, 7
#ifndef GRAUPEL
    if (n > 5) cycle
#endif
    do j = jds, jde
      write (output) surface(ids:ide, j, n)
    end do
  end do
  do n = 1, 4
    call write_field(diagnosed(:, :, :, n))
  end do
  close (output)

  do n = 8, 11
    state(ids:ide, kts:kte, jds:jde, n) = outside
  end do
#ifndef GRAUPEL
  state(:, :, :, 7) = outside
  surface(:, :, 6:7) = outside
#endif
  state(:, :, :, 12:) = outside
  state(ids:ide, kts:kte, jds:jde, :) = outside
  diagnosed(ids:ide, kts:kte, jds:jde, :) = outside
  surface(ids:ide, jds:jde, :) = outside
  if (any(state /= outside) .or. any(diagnosed /= outside) .or. any(surface /= outside)) error stop "halos were touched"

contains

  subroutine write_field(field)
    real, intent(in) :: field(ims:, kms:, jms:)
    do k = kts, kte
      do j = jds, jde
        write (output) field(ids:ide, k, j)
      end do
    end do
  end subroutine write_field
end program wrf_driver
