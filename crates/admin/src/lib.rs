//! HTTP API on the admin listener: health, readiness, status.
