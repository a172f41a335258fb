//! The ranks of a library of MPI that has started.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::abi::{Constants, Handle};
use super::functions::Functions;
use super::search::Found;
use crate::ranks::{Ranks, Received, Sent};

/// Longest piece of a message, bytes: lengths are 32-bit integers in MPI.
const PIECE: usize = 1 << 30;

/// The tag of all messages.
const TAG: c_int = 1;

/// Room for the name of a host in any library, bytes.
const NAME_BYTES: usize = 1024;

/// All processes that the launcher has started.
pub(super) struct World<H> {
    about: String,
    functions: Functions<H>,
    constants: Constants<H>,
    rank: usize,
    size: usize,
    on_host: usize,
    number_on_host: usize,
    sent: AtomicU64,
    is_finished: AtomicBool,
    /// Kept as long as its functions are.
    library: Found,
}

// SAFETY: handles are constants of the library. It is called by the main thread alone, as `MPI_THREAD_FUNNELED` has it
// and the documentation of `Ranks` asks for; `abort` ends the process.
unsafe impl<H> Send for World<H> {}
// SAFETY: as above.
unsafe impl<H> Sync for World<H> {}

impl<H> fmt::Debug for World<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, size, library, .. } = self;
        write!(f, "rank {rank} of {size}, {library:?}")
    }
}

impl<H: Handle> World<H> {
    /// Starts MPI, and fails where the constants are not those of the library.
    pub(super) fn start(
        found: Found,
        constants: Constants<H>,
        interface: &str,
    ) -> Result<Self, String> {
        let functions = Functions::<H>::of(&found)?;
        let (f, c) = (&functions, &constants);
        let checked = |code: c_int, name: &str| match code {
            0 => Ok(()),
            code => Err(format!("{name} failed with code {code}")),
        };
        let (mut provided, mut size, mut rank, mut on_host, mut number) = (0, 0, 0, 0, 0);
        let (no_arguments, mut of_host) = (std::ptr::null_mut(), H::NOTHING);
        // SAFETY: pointers to integers and handles that outlive the calls.
        unsafe {
            checked(
                (f.init_thread)(no_arguments, no_arguments.cast(), c.funneled, &raw mut provided),
                "MPI_Init_thread",
            )?;
            for (kind, bytes) in [(c.byte, size_of::<u8>()), (c.integer, size_of::<i64>())] {
                let mut found = 0;
                checked((f.type_size)(kind, &raw mut found), "MPI_Type_size")?;
                if usize::try_from(found) != Ok(bytes) {
                    return Err(format!(
                        "a type of {bytes} bytes has {found}; its binary interface is not that of \
                         {interface}"
                    ));
                }
            }
            checked((f.size)(c.world, &raw mut size), "MPI_Comm_size")?;
            checked((f.rank)(c.world, &raw mut rank), "MPI_Comm_rank")?;
            let split = (f.split_type)(c.world, c.shared, rank, c.no_info, &raw mut of_host);
            checked(split, "MPI_Comm_split_type")?;
            checked((f.size)(of_host, &raw mut on_host), "MPI_Comm_size")?;
            checked((f.rank)(of_host, &raw mut number), "MPI_Comm_rank")?;
        }
        let [rank, size, on_host, number_on_host] =
            [rank, size, on_host, number].map(|number| number as usize);
        let about = format!("{}, {}, binary interface of {interface}", found.version, found.name);
        let (sent, is_finished) = (AtomicU64::new(0), AtomicBool::new(false));
        let library = found;
        Ok(Self {
            about,
            functions,
            constants,
            rank,
            size,
            on_host,
            number_on_host,
            sent,
            is_finished,
            library,
        })
    }

    /// Ends all ranks where a call failed. By default MPI does so itself.
    fn check(&self, code: c_int) {
        if code != 0 {
            self.abort(1);
        }
    }
}

impl<H: Handle> Ranks for World<H> {
    fn about(&self) -> String {
        self.about.clone()
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn on_host(&self) -> usize {
        self.on_host
    }

    fn number_on_host(&self) -> usize {
        self.number_on_host
    }

    fn host(&self) -> String {
        let (mut name, mut length) = (vec![0_u8; NAME_BYTES], 0);
        // SAFETY: the room is that of MPI_MAX_PROCESSOR_NAME of any library.
        unsafe { (self.functions.processor_name)(name.as_mut_ptr().cast(), &raw mut length) };
        String::from_utf8_lossy(&name[..length as usize]).into_owned()
    }

    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) {
        let (f, Constants { world, byte, .. }) = (&self.functions, &self.constants);
        let mut requests = Vec::with_capacity(sent.len() + received.len());
        for (from, room) in received.iter_mut() {
            for piece in room.chunks_mut(PIECE) {
                let (length, mut request) = (piece.len() as c_int, H::NOTHING);
                let (to, from) = (piece.as_mut_ptr().cast(), *from as c_int);
                // SAFETY: the room stays borrowed until all messages have arrived, below.
                let code =
                    unsafe { (f.receive)(to, length, *byte, from, TAG, *world, &raw mut request) };
                self.check(code);
                requests.push(request);
            }
        }
        for (to, message) in sent {
            self.sent.fetch_add(message.len() as u64, Ordering::Relaxed);
            for piece in message.chunks(PIECE) {
                let (length, mut request) = (piece.len() as c_int, H::NOTHING);
                let (from, to) = (piece.as_ptr().cast(), *to as c_int);
                // SAFETY: as above.
                let code =
                    unsafe { (f.send)(from, length, *byte, to, TAG, *world, &raw mut request) };
                self.check(code);
                requests.push(request);
            }
        }
        let no_status =
            std::ptr::without_provenance_mut::<c_void>(self.constants.no_status.cast_unsigned());
        // SAFETY: the requests are those that were begun above.
        let code =
            unsafe { (f.wait_all)(requests.len() as c_int, requests.as_mut_ptr(), no_status) };
        self.check(code);
    }

    fn sum(&self, values: &mut [i64]) {
        let Constants { world, integer, sum, in_place, .. } = &self.constants;
        let (world, integer, sum) = (*world, *integer, *sum);
        let in_place = std::ptr::without_provenance::<c_void>(in_place.cast_unsigned());
        for piece in values.chunks_mut(PIECE) {
            let (at, length) = (piece.as_mut_ptr().cast(), piece.len() as c_int);
            // SAFETY: there are as many integers as the call is told.
            let code =
                unsafe { (self.functions.reduce_all)(in_place, at, length, integer, sum, world) };
            self.check(code);
        }
    }

    fn bytes_sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    fn abort(&self, code: u8) -> ! {
        // SAFETY: MPI ends this process and all others.
        unsafe { (self.functions.abort)(self.constants.world, code.into()) };
        std::process::exit(code.into())
    }

    fn finish(&self) {
        if self.is_finished.swap(true, Ordering::Relaxed) {
            return;
        }
        // SAFETY: no message is on its way.
        unsafe {
            (self.functions.barrier)(self.constants.world);
            (self.functions.finalize)();
        }
    }
}
