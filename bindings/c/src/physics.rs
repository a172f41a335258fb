//! Column physics: a handle of a scheme, and calls on arrays of the host.

use std::ffi::{c_char, c_void};

use ndarray::{Array2, ArrayView3, ArrayViewMut2, ArrayViewMut3};
use nwp_mini::device::{Buffer, Element, Stream};
use nwp_mini::embedded::{DeviceBlock, Embeddable, Microphysics};
use nwp_mini::error::Result;
use nwp_mini::physics as core;
use nwp_mini::physics::scheme::About;

use crate::arrays::{Block, Places};
use crate::call::{call, refused};
use crate::description::{Description, PhysicsAbout};
use crate::texts::from_caller;

/// A scheme with its options. Threads share it; whoever destroys it sees to it that no other thread uses it.
#[derive(Debug)]
pub struct Physics {
    microphysics: Microphysics,
    description: Description,
}

/// Makes a scheme from a text of options, as "physics=wsm5,backend=gpu,n0r=8e6": physics (the name of a scheme), variant
/// (one of its variants), backend (cpu, gpu or auto; without it cpu), threads (1 without it: the calling thread, and no thread is
/// made), device, nvrtc-lib, fast-math and tuning (on or off), and the parameters of the scheme.
///
/// @param options the text; names and values as in the program
/// @param handle gets the handle; NULL after a failure
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_create(
    options: *const c_char,
    handle: *mut *mut Physics,
) -> i32 {
    call(|| {
        if handle.is_null() {
            return Err(refused("handle is NULL; a place for it is needed"));
        }
        // SAFETY: a place of the caller's.
        unsafe { handle.write(std::ptr::null_mut()) };
        // SAFETY: a text of C, as the header asks for.
        let options = unsafe { from_caller(options, "options") }?;
        let microphysics: Microphysics = options.parse()?;
        let description = Description::of(&microphysics);
        let made = Box::new(Physics { microphysics, description });
        // SAFETY: as above.
        unsafe { handle.write(Box::into_raw(made)) };
        Ok(())
    })
}

/// Ends a handle; NULL is ignored. No other thread may use it, and work on a device is waited for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_destroy(handle: *mut Physics) {
    call(|| {
        if !handle.is_null() {
            // SAFETY: the handle was made by `nwp_mini_physics_create`, and is ended once.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(())
    });
}

/// Describes the scheme of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_describe(
    handle: *const Physics,
    about: *mut PhysicsAbout,
) -> i32 {
    call(|| {
        // SAFETY: a handle of the caller's.
        let handle = unsafe { shared(handle) }?;
        if about.is_null() {
            return Err(refused("about is NULL; a place for the description is needed"));
        }
        // SAFETY: a place of the caller's.
        unsafe { about.write(handle.description.about) };
        Ok(())
    })
}

/// The value of a parameter of the scheme, or of a physical constant of the library by its name in WRF: g cp cpv r_d r_v
/// ep_1 ep_2 epsilon xls xlv xlf svpt0 psat cliq cice rhoair0 rhowater rhosnow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_parameter(
    handle: *const Physics,
    name: *const c_char,
    value: *mut f64,
) -> i32 {
    call(|| {
        // SAFETY: a handle and a text of the caller's.
        let (handle, name) = unsafe { (shared(handle)?, from_caller(name, "name")?) };
        if value.is_null() {
            return Err(refused("value is NULL; a place for the value is needed"));
        }
        let found = handle.microphysics.parameter(name)?;
        // SAFETY: a place of the caller's.
        unsafe { value.write(found) };
        Ok(())
    })
}

/// One call of the scheme, dt seconds, on arrays of the host in single precision, in place. Several threads may call at
/// a time, each with columns of its own; blocks without columns are legal.
///
/// @param fields pointers to the fields in the order of the description, to the lowest cell of the first column each;
///        for a plane at the ground NULL if nobody wants it
/// @param count number of these pointers
/// @param dt length of the call, s
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_step_f32(
    handle: *const Physics,
    block: *const Block,
    fields: *const *mut f32,
    count: usize,
    dt: f64,
) -> i32 {
    // SAFETY: as the header asks for.
    call(|| unsafe { step(handle, block, fields, count, dt) })
}

/// The same in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_step_f64(
    handle: *const Physics,
    block: *const Block,
    fields: *const *mut f64,
    count: usize,
    dt: f64,
) -> i32 {
    // SAFETY: as the header asks for.
    call(|| unsafe { step(handle, block, fields, count, dt) })
}

/// Sets the diagnosed fields of a state, in arrays of the host in single precision.
///
/// @param fields pointers to the tracers and the fields of the air, which are read; those to planes may follow
/// @param count number of these pointers
/// @param out pointers to the diagnosed fields in the order of the description; NULL for those that nobody wants
/// @param out_count number of these pointers
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_diagnose_f32(
    handle: *const Physics,
    block: *const Block,
    fields: *const *const f32,
    count: usize,
    out: *const *mut f32,
    out_count: usize,
) -> i32 {
    // SAFETY: as the header asks for.
    call(|| unsafe { diagnose(handle, block, [fields, out.cast()], [count, out_count]) })
}

/// The same in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_diagnose_f64(
    handle: *const Physics,
    block: *const Block,
    fields: *const *const f64,
    count: usize,
    out: *const *mut f64,
    out_count: usize,
) -> i32 {
    // SAFETY: as the header asks for.
    call(|| unsafe { diagnose(handle, block, [fields, out.cast()], [count, out_count]) })
}

/// Queues a call of the scheme on arrays in device memory, in place, in a stream of the caller. The handle was made with
/// backend=gpu. Columns of a row are adjacent, levels are whole rows, and planes have the rows of the fields: stride_i =
/// plane_i = 1, plane_j = stride_j, and stride_k is a multiple of stride_j. The arrays stay until the work is done.
///
/// @param fields device addresses of all fields in the order of the description, in memory of the host
/// @param count number of these addresses
/// @param dt length of the call, s
/// @param stream a CUstream or cudaStream_t of the primary context of the device; NULL for the default stream
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_step_device_f32(
    handle: *const Physics,
    block: *const Block,
    fields: *const *mut f32,
    count: usize,
    dt: f64,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: as the header asks for.
    call(|| unsafe { step_device(handle, block, fields, count, dt, stream) })
}

/// The same in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_step_device_f64(
    handle: *const Physics,
    block: *const Block,
    fields: *const *mut f64,
    count: usize,
    dt: f64,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: as the header asks for.
    call(|| unsafe { step_device(handle, block, fields, count, dt, stream) })
}

/// Waits until the work of a stream is done; a call that failed on the device is reported here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_physics_wait(handle: *const Physics, stream: *mut c_void) -> i32 {
    call(|| {
        // SAFETY: a handle of the caller's.
        let gpu = unsafe { shared(handle) }?.microphysics.gpu()?;
        // SAFETY: a stream of the caller's, which lives during the call.
        unsafe { Stream::borrowed(gpu, stream as u64) }.synchronize()
    })
}

/// # Safety
///
/// The handle was made by `nwp_mini_physics_create`, and lives as long as the result.
unsafe fn shared<'a>(handle: *const Physics) -> Result<&'a Physics> {
    // SAFETY: promised by the caller.
    unsafe { handle.as_ref() }.ok_or_else(|| refused("handle is NULL; make one"))
}

/// # Safety
///
/// `count` pointers, all of which stay as long as the result.
unsafe fn pointers<'a, T>(fields: *const T, count: usize, name: &str) -> Result<&'a [T]> {
    if fields.is_null() {
        return Err(refused(format!("{name} is NULL; an array of pointers is needed")));
    }
    // SAFETY: promised by the caller.
    Ok(unsafe { std::slice::from_raw_parts(fields, count) })
}

/// # Safety
///
/// A block or NULL.
unsafe fn places<R>(block: *const Block) -> Result<Places> {
    // SAFETY: promised by the caller.
    let block = unsafe { block.as_ref() }
        .ok_or_else(|| refused("block is NULL; numbers and strides are needed"))?;
    block.places(size_of::<R>())
}

/// Fails for a pointer that is not one to a number.
fn check_pointer<R>(pointer: *const R, field: &core::Field) -> Result<()> {
    if pointer.is_null() {
        return Err(refused(format!("field {} is NULL; it is needed", field.name)));
    }
    if !pointer.is_aligned() {
        let (name, bytes) = (field.name, align_of::<R>());
        return Err(refused(format!(
            "field {name} is at {pointer:p}, no multiple of {bytes} bytes"
        )));
    }
    Ok(())
}

/// Fails for the wrong number of fields, and for one that is given in the place of two.
fn check_fields<R>(about: &About, fields: &[*mut R], is_device: bool) -> Result<()> {
    let all = about.fields().concat();
    let needed = all.len();
    if fields.len() != needed {
        let names: Vec<&str> = all.iter().map(|field| field.name).collect();
        return Err(refused(format!(
            "{} fields; {} takes {needed}, in this order: {}",
            fields.len(),
            about.title,
            names.join(" ")
        )));
    }
    let planes = needed - about.surface.len();
    let is_written = |at: usize| at < about.tracers.len() || at >= planes;
    for (at, (field, pointer)) in all.iter().zip(fields).enumerate() {
        if is_device || at < planes || !pointer.is_null() {
            check_pointer(pointer.cast_const(), field)?;
        }
        let twin = fields[..at].iter().position(|other| other == pointer && !pointer.is_null());
        if let Some(twin) = twin.filter(|twin| is_written(at) || is_written(*twin)) {
            return Err(refused(format!(
                "fields {} and {} are the same array; each needs its own",
                all[twin].name, field.name
            )));
        }
    }
    Ok(())
}

/// # Safety
///
/// The arguments are as the header asks for: those of `nwp_mini_physics_step_f32`.
unsafe fn step<R: Embeddable>(
    handle: *const Physics,
    block: *const Block,
    fields: *const *mut R,
    count: usize,
    dt: f64,
) -> Result<()> {
    // SAFETY: promised by the caller, as below.
    let (handle, places, fields) =
        unsafe { (shared(handle)?, places::<R>(block)?, pointers(fields, count, "fields")?) };
    let about = handle.microphysics.about();
    if places.is_empty() {
        return Ok(());
    }
    check_fields(about, fields, false)?;
    let (tracers, rest) = fields.split_at(about.tracers.len());
    let (air, planes) = rest.split_at(about.air.len());
    let [_, rows, columns] = places.dim();
    let unwanted = planes.iter().filter(|plane| plane.is_null()).count();
    let mut unwanted = vec![Array2::zeros((rows, columns)); unwanted];
    let mut unwanted = unwanted.iter_mut();
    // SAFETY: promised by the caller; no two fields are the same.
    let views = unsafe {
        let surface = |plane: &*mut R| -> ArrayViewMut2<'_, R> {
            if plane.is_null() {
                unwanted.next().expect("one for every plane that is not wanted").view_mut()
            } else {
                places.plane_mut(*plane)
            }
        };
        core::Block {
            theta_base: R::ZERO,
            tracers: tracers.iter().map(|field| places.field_mut(*field)).collect(),
            air: air.iter().map(|field| places.field(field.cast_const())).collect(),
            surface: planes.iter().map(surface).collect(),
            budget: None,
        }
    };
    handle.microphysics.step(dt, views)
}

/// # Safety
///
/// The arguments are as the header asks for: those of `nwp_mini_physics_diagnose_f32`.
unsafe fn diagnose<R: Embeddable>(
    handle: *const Physics,
    block: *const Block,
    [fields, out]: [*const *const R; 2],
    [count, out_count]: [usize; 2],
) -> Result<()> {
    // SAFETY: promised by the caller, as below.
    let (handle, places) = unsafe { (shared(handle)?, places::<R>(block)?) };
    let about = handle.microphysics.about();
    if places.is_empty() {
        return Ok(());
    }
    let needed = about.tracers.len() + about.air.len();
    if count < needed {
        return Err(refused(format!("{count} fields; {} needs {needed}", about.title)));
    }
    // SAFETY: as above.
    let (fields, out) =
        unsafe { (pointers(fields, needed, "fields")?, pointers(out, out_count, "out")?) };
    for (field, pointer) in about.tracers.iter().chain(about.air).zip(fields) {
        check_pointer(*pointer, field)?;
    }
    for (field, pointer) in
        about.diagnosed.iter().zip(out).filter(|(_, pointer)| !pointer.is_null())
    {
        check_pointer(*pointer, field)?;
        if fields.contains(pointer) {
            let name = field.name;
            return Err(refused(format!(
                "out {name} is one of the fields; it needs its own array"
            )));
        }
    }
    // SAFETY: as above.
    let views: Vec<ArrayView3<'_, R>> =
        unsafe { fields.iter().map(|field| places.field(*field)).collect() };
    let wanted = |pointer: &*const R| -> Option<ArrayViewMut3<'_, R>> {
        // SAFETY: as above; arrays of the results are written.
        (!pointer.is_null()).then(|| unsafe { places.field_mut(pointer.cast_mut()) })
    };
    let (tracers, air) = views.split_at(about.tracers.len());
    handle.microphysics.diagnose(tracers, air, out.iter().map(wanted).collect())
}

/// # Safety
///
/// The arguments are as the header asks for: those of `nwp_mini_physics_step_device_f32`.
unsafe fn step_device<R: Embeddable + Element>(
    handle: *const Physics,
    block: *const Block,
    fields: *const *mut R,
    count: usize,
    dt: f64,
    stream: *mut c_void,
) -> Result<()> {
    // SAFETY: promised by the caller, as below.
    let (handle, places, fields) =
        unsafe { (shared(handle)?, places::<R>(block)?, pointers(fields, count, "fields")?) };
    let gpu = handle.microphysics.gpu()?;
    if places.is_empty() {
        return Ok(());
    }
    let about = handle.microphysics.about();
    check_fields(about, fields, true)?;
    // SAFETY: `places` has read it.
    let Block { stride_i, stride_j, stride_k, plane_i, plane_j, .. } = unsafe { *block };
    if [stride_i, plane_i] != [1, 1] || plane_j != stride_j || stride_j < 1 || stride_k < 1 {
        return Err(refused(format!(
            "block: strides (i, j, k) {stride_i} {stride_j} {stride_k} of fields and (i, j) {plane_i} {plane_j} of \
             planes; on the device those of i are 1, and planes have the rows of the fields"
        )));
    }
    let (pitch, level) = (stride_j as usize, stride_k as usize);
    let dim @ [levels, rows, columns] = places.dim();
    let plane = (rows - 1) * pitch + columns;
    let volume = (levels.max(1) - 1) * level + plane;
    let array = |pointer: &*mut R, length: usize| -> Buffer<R> {
        // SAFETY: promised by the caller.
        unsafe { gpu.borrow(*pointer as u64, length) }
    };
    let of = |all: &[*mut R], length: usize| -> Vec<Buffer<R>> {
        all.iter().map(|pointer| array(pointer, length)).collect()
    };
    let (tracers, rest) = fields.split_at(about.tracers.len());
    let (air, planes) = rest.split_at(about.air.len());
    let (tracers, air, surface) = (of(tracers, volume), of(air, volume), of(planes, plane));
    let block = DeviceBlock { dim, pitch, level, tracers: &tracers, air: &air, surface: &surface };
    // SAFETY: a stream of the caller's, which lives during the call.
    let stream = unsafe { Stream::borrowed(gpu, stream as u64) };
    handle.microphysics.step_on_device(dt, &block, &stream)
}
