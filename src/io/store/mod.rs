//! Writing files: names that appear when a file is complete, chunks, compression, threads.

pub(crate) mod atomic_file;
pub(in crate::io) mod bit_information;
pub(in crate::io) mod chunks;
pub(crate) mod destination;
pub(in crate::io) mod fields;
pub(in crate::io) mod flushing_file;
pub(crate) mod frame_slot;
pub(in crate::io) mod frames;
pub(in crate::io) mod hdf5_lock;
pub mod nc_char;
pub(in crate::io) mod ordered_pipeline;
pub(in crate::io) mod quantization;
pub(in crate::io) mod rounding_attributes;
pub(crate) mod storage;
pub mod writer;
pub(in crate::io) mod writer_thread;
