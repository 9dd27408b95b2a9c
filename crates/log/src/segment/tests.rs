mod bad_bytes;
mod cuts;
mod dead;
mod fixture;
mod formats;
mod model;
mod seal;
mod verify;
