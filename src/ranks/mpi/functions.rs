//! The functions of MPI that are used, by the type of its handles.

use std::ffi::{c_char, c_int, c_void};

use super::search::Found;

/// Defines the functions with their names in the library.
macro_rules! functions {
    ($($field:ident = $name:literal ($($argument:ty),*);)*) => {
        /// Functions with handles of type `H`; all return an error code.
        pub(super) struct Functions<H> {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl<H: Copy> Functions<H> {
            /// The functions of a library.
            pub(super) fn of(found: &Found) -> Result<Self, String> {
                let missing = |name: &str| format!("{name} is missing");
                // SAFETY: the signatures are those of the MPI standard, with the handles of this library.
                unsafe {
                    Ok(Self {
                        $($field: *found.library.get($name.as_bytes()).map_err(|_| missing($name))?,)*
                    })
                }
            }
        }
    };
}

functions! {
    init_thread = "MPI_Init_thread"(*mut c_int, *mut c_void, c_int, *mut c_int);
    finalize = "MPI_Finalize"();
    abort = "MPI_Abort"(H, c_int);
    rank = "MPI_Comm_rank"(H, *mut c_int);
    size = "MPI_Comm_size"(H, *mut c_int);
    type_size = "MPI_Type_size"(H, *mut c_int);
    split_type = "MPI_Comm_split_type"(H, c_int, c_int, H, *mut H);
    processor_name = "MPI_Get_processor_name"(*mut c_char, *mut c_int);
    send = "MPI_Isend"(*const c_void, c_int, H, c_int, c_int, H, *mut H);
    receive = "MPI_Irecv"(*mut c_void, c_int, H, c_int, c_int, H, *mut H);
    wait_all = "MPI_Waitall"(c_int, *mut H, *mut c_void);
    reduce_all = "MPI_Allreduce"(*const c_void, *mut c_void, c_int, H, H, H);
    barrier = "MPI_Barrier"(H);
}
