//! `redlatch._redlatch`: the core for the Python package. This crate converts types and decides nothing. Python raises
//! the errors.

mod at_exit;
mod caller;
mod client;
mod completions;
mod gone;
mod held;
mod here;
mod hold;
mod lock;
mod log;
mod mailbox;
mod named;
mod object;
mod outcome;
mod park;
mod pending;
mod places;
mod records;
mod taken;

// Free-threaded Python is not tested. Such an interpreter switches the GIL on for this module, and says so.
#[pyo3::pymodule(gil_used = true)]
mod _redlatch {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::at_exit::close_at_exit;
    #[pymodule_export]
    use crate::client::{Client, close, connect, group, multi_name};
    #[pymodule_export]
    use crate::completions::Completions;
    #[pymodule_export]
    use crate::gone::{lives, owner_begins, owner_ends};
    #[pymodule_export]
    use crate::held::{Held, latest_serial};
    #[pymodule_export]
    use crate::hold::Hold;
    #[pymodule_export]
    use crate::lock::Lock;
    #[pymodule_export]
    use crate::log::{log_drain, log_flush, log_level, log_stop};
    #[pymodule_export]
    use crate::mailbox::Mailbox;
    #[pymodule_export]
    use crate::object::{Object, Permits};
    #[pymodule_export]
    use crate::pending::Pending;
    #[pymodule_export]
    use crate::places::place;
    #[pymodule_export]
    use crate::records::{count_held, ending, forget_gone, forget_released, hold_meant, record};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::log::begin();
        crate::places::learn(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
