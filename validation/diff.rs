//! `nwp-mini diff`.
