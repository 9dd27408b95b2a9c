//! Record batch v2: read, check, build, compress.
