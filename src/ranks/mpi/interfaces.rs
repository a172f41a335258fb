//! The three binary interfaces of MPI, by their constants.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::abi::Constants;
use super::search::Found;
use super::world::World;
use crate::ranks::Ranks;

/// Starts a library.
pub(super) fn start(found: Found) -> Result<Arc<dyn Ranks>, String> {
    if let Some(world) = found.symbol("ompi_mpi_comm_world") {
        let of = |name: &str| found.symbol(name).ok_or_else(|| format!("{name} is missing"));
        // Constants of Open MPI are addresses of objects of the library.
        let constants = Constants {
            world,
            no_info: of("ompi_mpi_info_null")?,
            byte: of("ompi_mpi_byte")?,
            integer: of("ompi_mpi_int64_t")?,
            sum: of("ompi_mpi_op_sum")?,
            in_place: 1,
            no_status: 0,
            shared: 0,
            funneled: 1,
        };
        return Ok(Arc::new(World::start(found, constants, "Open MPI")?));
    }
    if found.name.contains("libmpi_abi") {
        let handle = |number: usize| std::ptr::without_provenance_mut::<c_void>(number);
        let constants = Constants {
            world: handle(0x101),
            no_info: handle(0x130),
            byte: handle(0x247),
            integer: handle(0x258),
            sum: handle(0x21),
            in_place: 1,
            no_status: 0,
            shared: 221,
            funneled: 1024,
        };
        return Ok(Arc::new(World::start(found, constants, "MPI 5.0")?));
    }
    let constants: Constants<c_int> = Constants {
        world: 0x4400_0000,
        no_info: 0x1c00_0000,
        byte: 0x4c00_010d,
        integer: 0x4c00_083a,
        sum: 0x5800_0003,
        in_place: -1,
        no_status: 1,
        shared: 1,
        funneled: 1,
    };
    Ok(Arc::new(World::start(found, constants, "MPICH")?))
}
