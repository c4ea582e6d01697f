//! `redlatch._redlatch`: the core for the Python package. Types go across, nothing is decided; Python raises the errors.

mod client;
mod outcome;
mod park;

#[pyo3::pymodule]
mod _redlatch {
    #[pymodule_export]
    use crate::client::{Client, connect};
}
