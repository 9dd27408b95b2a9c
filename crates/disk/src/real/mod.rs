//! The disk of the operating system (Linux).
//!
//! Every call goes straight to the kernel by `rustix`; nothing is buffered here. Calls that a
//! signal interrupted are made again; reads and writes that moved fewer bytes than asked go on
//! where they stopped.

mod disk;
mod file;
mod lock;
#[cfg(test)]
mod tests;

pub use disk::RealDisk;
