! nwp-mini for Fortran: column physics on arrays of the host or of a device, in place.
!
! A scheme is an object with options as a text. Its fields are addresses in the order of describe; place_of finds them by
! name. Arrays may have any order of axes: a block has the elements between neighbours. Real numbers have 4 or 8 bytes.
!
!     use nwp_mini
!     type(nwp_mini_physics) :: physics
!     call physics%create("physics=wsm5")
!     call physics%step(block, fields, dt, kind(field))
!
! Without the argument status an error stops the program with its text; with it, the status is that of nwp_mini.h.
module nwp_mini
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_int32_t, c_int64_t, &
       c_intptr_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t, c_float
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: nwp_mini_physics, nwp_mini_block, nwp_mini_field, nwp_mini_error, nwp_mini_version, nwp_mini_options

  !> Version of the interface that this module is written for.
  integer(c_int32_t), parameter :: interface_version = 1

  !> Columns in arrays of a host: their numbers, and elements between neighbours.
  type, bind(c) :: nwp_mini_block
    !> Columns of a row, rows, levels.
    integer(c_int64_t) :: ni = 0, nj = 0, nk = 0
    !> Elements of a field from column to column, from row to row, and from a level to the one above.
    integer(c_int64_t) :: stride_i = 0, stride_j = 0, stride_k = 0
    !> Elements of a plane from column to column and from row to row.
    integer(c_int64_t) :: plane_i = 0, plane_j = 0
  end type nwp_mini_block

  !> A field of a scheme.
  type :: nwp_mini_field
    character(len=:), allocatable :: name, units, about
  end type nwp_mini_field

  !> A scheme with its options. Threads share it.
  type :: nwp_mini_physics
    private
    type(c_ptr) :: handle = c_null_ptr
    !> Name of the scheme in words, and place of the calls.
    character(len=:), allocatable, public :: title, place
    !> Numbers of tracers, of fields of the air, of planes at the ground, and of diagnosed fields.
    integer, public :: tracers = 0, air = 0, planes = 0, diagnosed = 0
    !> The fields of a call in their order, and the diagnosed fields in theirs.
    type(nwp_mini_field), allocatable, public :: fields(:), out(:)
  contains
    procedure :: create
    procedure :: destroy
    procedure :: is_made
    procedure :: place_of
    procedure :: parameter => value_of_parameter
    procedure :: difference
    procedure :: step
    procedure :: step_device
    procedure :: diagnose
    procedure :: wait => wait_for_stream
  end type nwp_mini_physics

  ! The structures of nwp_mini.h.
  type, bind(c) :: c_field
    type(c_ptr) :: name, units, about
  end type c_field

  type, bind(c) :: c_about
    type(c_ptr) :: key, title, place
    type(c_ptr) :: fields
    integer(c_size_t) :: tracers, air, planes
    type(c_ptr) :: diagnosed
    integer(c_size_t) :: diagnosed_count
    type(c_ptr) :: parameters
    integer(c_size_t) :: parameter_count, fewest_levels, most_levels
  end type c_about

  interface
    function c_abi() bind(c, name="nwp_mini_abi") result(number)
      import :: c_int32_t
      integer(c_int32_t) :: number
    end function c_abi

    function c_version() bind(c, name="nwp_mini_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_version

    function c_last_error() bind(c, name="nwp_mini_last_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_last_error

    function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen

    function c_create(options, handle) bind(c, name="nwp_mini_physics_create") result(status)
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(out) :: handle
      integer(c_int32_t) :: status
    end function c_create

    subroutine c_destroy(handle) bind(c, name="nwp_mini_physics_destroy")
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine c_destroy

    function c_describe(handle, about) bind(c, name="nwp_mini_physics_describe") result(status)
      import :: c_about, c_int32_t, c_ptr
      type(c_ptr), value :: handle
      type(c_about), intent(out) :: about
      integer(c_int32_t) :: status
    end function c_describe

    function c_parameter(handle, name, value) bind(c, name="nwp_mini_physics_parameter") result(status)
      import :: c_char, c_double, c_int32_t, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: value
      integer(c_int32_t) :: status
    end function c_parameter

    function c_step_f32(handle, block, fields, count, dt) bind(c, name="nwp_mini_physics_step_f32") result(status)
      import :: c_double, c_int32_t, c_ptr, c_size_t, nwp_mini_block
      type(c_ptr), value :: handle
      type(nwp_mini_block), intent(in) :: block
      type(c_ptr), intent(in) :: fields(*)
      integer(c_size_t), value :: count
      real(c_double), value :: dt
      integer(c_int32_t) :: status
    end function c_step_f32

    function c_step_f64(handle, block, fields, count, dt) bind(c, name="nwp_mini_physics_step_f64") result(status)
      import :: c_double, c_int32_t, c_ptr, c_size_t, nwp_mini_block
      type(c_ptr), value :: handle
      type(nwp_mini_block), intent(in) :: block
      type(c_ptr), intent(in) :: fields(*)
      integer(c_size_t), value :: count
      real(c_double), value :: dt
      integer(c_int32_t) :: status
    end function c_step_f64

    function c_step_device_f32(handle, block, fields, count, dt, stream) &
         bind(c, name="nwp_mini_physics_step_device_f32") result(status)
      import :: c_double, c_int32_t, c_ptr, c_size_t, nwp_mini_block
      type(c_ptr), value :: handle
      type(nwp_mini_block), intent(in) :: block
      type(c_ptr), intent(in) :: fields(*)
      integer(c_size_t), value :: count
      real(c_double), value :: dt
      type(c_ptr), value :: stream
      integer(c_int32_t) :: status
    end function c_step_device_f32

    function c_step_device_f64(handle, block, fields, count, dt, stream) &
         bind(c, name="nwp_mini_physics_step_device_f64") result(status)
      import :: c_double, c_int32_t, c_ptr, c_size_t, nwp_mini_block
      type(c_ptr), value :: handle
      type(nwp_mini_block), intent(in) :: block
      type(c_ptr), intent(in) :: fields(*)
      integer(c_size_t), value :: count
      real(c_double), value :: dt
      type(c_ptr), value :: stream
      integer(c_int32_t) :: status
    end function c_step_device_f64

    function c_diagnose_f32(handle, block, fields, count, out, out_count) &
         bind(c, name="nwp_mini_physics_diagnose_f32") result(status)
      import :: c_int32_t, c_ptr, c_size_t, nwp_mini_block
      type(c_ptr), value :: handle
      type(nwp_mini_block), intent(in) :: block
      type(c_ptr), intent(in) :: fields(*)
      integer(c_size_t), value :: count
      type(c_ptr), intent(in) :: out(*)
      integer(c_size_t), value :: out_count
      integer(c_int32_t) :: status
    end function c_diagnose_f32

    function c_diagnose_f64(handle, block, fields, count, out, out_count) &
         bind(c, name="nwp_mini_physics_diagnose_f64") result(status)
      import :: c_int32_t, c_ptr, c_size_t, nwp_mini_block
      type(c_ptr), value :: handle
      type(nwp_mini_block), intent(in) :: block
      type(c_ptr), intent(in) :: fields(*)
      integer(c_size_t), value :: count
      type(c_ptr), intent(in) :: out(*)
      integer(c_size_t), value :: out_count
      integer(c_int32_t) :: status
    end function c_diagnose_f64

    function c_wait(handle, stream) bind(c, name="nwp_mini_physics_wait") result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: handle, stream
      integer(c_int32_t) :: status
    end function c_wait
  end interface

contains

  !> Makes the scheme of a text of options.
  subroutine create(self, options, status)
    class(nwp_mini_physics), intent(inout) :: self
    character(len=*), intent(in) :: options
    integer, intent(out), optional :: status
    type(c_about) :: about
    integer :: found

    if (c_abi() /= interface_version) then
      if (present(status)) then
        status = 2
        return
      end if
      write (error_unit, "(a,i0,a,i0)") "nwp_mini: the library has interface ", c_abi(), ", its module ", &
           interface_version
      error stop 2
    end if
    call self%destroy()
    found = int(c_create(in_c(options), self%handle))
    if (found == 0) found = int(c_describe(self%handle, about))
    if (found == 0) then
      self%title = text_of(about%title)
      self%place = text_of(about%place)
      self%tracers = int(about%tracers)
      self%air = int(about%air)
      self%planes = int(about%planes)
      self%diagnosed = int(about%diagnosed_count)
      call take(about%fields, self%tracers + self%air + self%planes, self%fields)
      call take(about%diagnosed, self%diagnosed, self%out)
    end if
    call conclude(found, status)
  end subroutine create

  !> Ends the scheme; no thread may use it.
  subroutine destroy(self)
    class(nwp_mini_physics), intent(inout) :: self
    call c_destroy(self%handle)
    self%handle = c_null_ptr
  end subroutine destroy

  !> True between create and destroy.
  function is_made(self) result(answer)
    class(nwp_mini_physics), intent(in) :: self
    logical :: answer
    answer = c_associated(self%handle)
  end function is_made

  !> Place of the field of this name among fields, or among the diagnosed ones; 0 if there is none.
  function place_of(self, name) result(place)
    class(nwp_mini_physics), intent(in) :: self
    character(len=*), intent(in) :: name
    integer :: place
    do place = 1, size(self%fields)
      if (self%fields(place)%name == name) return
    end do
    do place = 1, size(self%out)
      if (self%out(place)%name == name) return
    end do
    place = 0
  end function place_of

  !> Value of a parameter of the scheme, or of a physical constant by its name in WRF.
  subroutine value_of_parameter(self, name, value, status)
    class(nwp_mini_physics), intent(in) :: self
    character(len=*), intent(in) :: name
    real(c_double), intent(out) :: value
    integer, intent(out), optional :: status
    call conclude(int(c_parameter(self%handle, in_c(name), value)), status)
  end subroutine value_of_parameter

  !> A constant of the host that is not that of the library, in words; empty if it is. Numbers of 4 bytes may be meant.
  function difference(self, name, value) result(text)
    class(nwp_mini_physics), intent(in) :: self
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    character(len=:), allocatable :: text
    character(len=120) :: line
    real(c_double) :: own
    integer :: status
    text = ""
    call self%parameter(name, own, status)
    if (status /= 0) then
      text = nwp_mini_error()
    else if (abs(value - own) > 1e-6_c_double*abs(own)) then
      write (line, "(3a,es14.7,a,es14.7)") "the constant ", name, " of the host is ", value, ", that of nwp-mini ", own
      text = trim(line)
    end if
  end function difference

  !> One call of dt seconds on arrays of the host, whose numbers have the given kind.
  subroutine step(self, block, fields, dt, of_kind, status)
    class(nwp_mini_physics), intent(in) :: self
    type(nwp_mini_block), intent(in) :: block
    type(c_ptr), intent(in) :: fields(:)
    real(c_double), intent(in) :: dt
    integer, intent(in) :: of_kind
    integer, intent(out), optional :: status
    integer(c_size_t) :: count
    count = size(fields, kind=c_size_t)
    if (of_kind == c_float) then
      call conclude(int(c_step_f32(self%handle, block, fields, count, dt)), status)
    else if (of_kind == c_double) then
      call conclude(int(c_step_f64(self%handle, block, fields, count, dt)), status)
    else
      call refuse_kind(of_kind, status)
    end if
  end subroutine step

  !> Queues a call on arrays of the device in a stream.
  subroutine step_device(self, block, fields, dt, of_kind, stream, status)
    class(nwp_mini_physics), intent(in) :: self
    type(nwp_mini_block), intent(in) :: block
    type(c_ptr), intent(in) :: fields(:)
    real(c_double), intent(in) :: dt
    integer, intent(in) :: of_kind
    type(c_ptr), intent(in) :: stream
    integer, intent(out), optional :: status
    integer(c_size_t) :: count
    count = size(fields, kind=c_size_t)
    if (of_kind == c_float) then
      call conclude(int(c_step_device_f32(self%handle, block, fields, count, dt, stream)), status)
    else if (of_kind == c_double) then
      call conclude(int(c_step_device_f64(self%handle, block, fields, count, dt, stream)), status)
    else
      call refuse_kind(of_kind, status)
    end if
  end subroutine step_device

  !> Sets the diagnosed fields; c_null_ptr stands for those that nobody wants.
  subroutine diagnose(self, block, fields, out, of_kind, status)
    class(nwp_mini_physics), intent(in) :: self
    type(nwp_mini_block), intent(in) :: block
    type(c_ptr), intent(in) :: fields(:), out(:)
    integer, intent(in) :: of_kind
    integer, intent(out), optional :: status
    integer(c_size_t) :: count, out_count
    count = size(fields, kind=c_size_t)
    out_count = size(out, kind=c_size_t)
    if (of_kind == c_float) then
      call conclude(int(c_diagnose_f32(self%handle, block, fields, count, out, out_count)), status)
    else if (of_kind == c_double) then
      call conclude(int(c_diagnose_f64(self%handle, block, fields, count, out, out_count)), status)
    else
      call refuse_kind(of_kind, status)
    end if
  end subroutine diagnose

  !> Waits for the work of a stream.
  subroutine wait_for_stream(self, stream, status)
    class(nwp_mini_physics), intent(in) :: self
    type(c_ptr), intent(in) :: stream
    integer, intent(out), optional :: status
    call conclude(int(c_wait(self%handle, stream)), status)
  end subroutine wait_for_stream

  !> Text of the last error of this thread.
  function nwp_mini_error() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_last_error())
  end function nwp_mini_error

  !> Version of the library.
  function nwp_mini_version() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_version())
  end function nwp_mini_version

  !> Options with those of the environment variable NWP_MINI_OPTIONS behind them.
  function nwp_mini_options(own) result(text)
    character(len=*), intent(in) :: own
    character(len=:), allocatable :: text
    integer :: length, status
    call get_environment_variable("NWP_MINI_OPTIONS", length=length, status=status)
    text = own
    if (status /= 0 .or. length == 0) return
    deallocate (text)
    allocate (character(len=len(own) + 1 + length) :: text)
    text(:len(own) + 1) = own//","
    call get_environment_variable("NWP_MINI_OPTIONS", value=text(len(own) + 2:))
  end function nwp_mini_options

  subroutine refuse_kind(of_kind, status)
    integer, intent(in) :: of_kind
    integer, intent(out), optional :: status
    if (present(status)) then
      status = 2
      return
    end if
    write (error_unit, "(a,i0,a)") "nwp_mini: real numbers of kind ", of_kind, "; c_float or c_double is needed"
    error stop 2
  end subroutine refuse_kind

  !> Hands on a status, or stops with the text of the error.
  subroutine conclude(found, status)
    integer, intent(in) :: found
    integer, intent(out), optional :: status
    if (present(status)) then
      status = found
      return
    end if
    if (found == 0) return
    write (error_unit, "(2a)") "nwp_mini: ", nwp_mini_error()
    select case (found)
    case (2)
      error stop 2
    case (3)
      error stop 3
    case (4)
      error stop 4
    case (5)
      error stop 5
    case default
      error stop 70
    end select
  end subroutine conclude

  !> Descriptions of fields.
  subroutine take(address, count, fields)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: count
    type(nwp_mini_field), allocatable, intent(out) :: fields(:)
    type(c_field), pointer :: found(:)
    integer :: n
    allocate (fields(count))
    if (count == 0) return
    call c_f_pointer(address, found, [count])
    do n = 1, count
      fields(n)%name = text_of(found(n)%name)
      fields(n)%units = text_of(found(n)%units)
      fields(n)%about = text_of(found(n)%about)
    end do
  end subroutine take

  !> A text of C.
  function text_of(address) result(text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: n, length
    length = int(c_strlen(address))
    call c_f_pointer(address, characters, [length])
    allocate (character(len=length) :: text)
    do n = 1, length
      text(n:n) = characters(n)
    end do
  end function text_of

  !> A text for C.
  pure function in_c(text) result(characters)
    character(len=*), intent(in) :: text
    character(kind=c_char) :: characters(len_trim(text) + 1)
    integer :: n
    do n = 1, len_trim(text)
      characters(n) = text(n:n)
    end do
    characters(len_trim(text) + 1) = c_null_char
  end function in_c
end module nwp_mini
