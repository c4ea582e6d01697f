//! Where blocks begin: the frame that calls `__enter__`, as `(its identity, its code, its instruction)`. The frame of a `with` statement
//! calls `__exit__` as well, on whichever thread its generator goes on by then; so it tells its own block from all others. Frames are told by their identity and
//! are not kept: a frame that has ended is not to keep its variables, and no frame is to keep its lock. Another frame may have the same
//! identity later, but hardly the same code as well: what begins a block and lives on is seldom what another call ends one with.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// Of `code.co_flags`: generators, coroutines, coroutines made of generators, asynchronous generators.
const GOES_ON_ELSEWHERE: u32 = GENERATOR | 0x80;

/// Generators, coroutines made of them, asynchronous generators: what a program suspends and keeps. A coroutine is suspended with its task.
const GENERATOR: u32 = 0x20 | 0x100 | 0x200;

/// The place that a frame is; `None`: no Python code calls.
#[pyfunction]
pub fn place<'py>(frame: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    if frame.is_none() {
        return Ok(None);
    }
    let py = frame.py();
    let code = frame.getattr(intern!(py, "f_code"))?;
    (frame.as_ptr() as usize, code, frame.getattr(intern!(py, "f_lasti"))?).into_pyobject(py).map(Some)
}

/// Whether a block that `taker` began at `begun` is what `caller` ends at `here`. Only a frame that can be suspended goes on for another
/// caller; of compiled code the nearest frame calls, which may be that of an event loop.
pub fn is_same(begun: &Bound<'_, PyTuple>, here: &Bound<'_, PyTuple>, taker: i64, caller: i64) -> PyResult<bool> {
    let is_same = begun.get_item(0)?.eq(here.get_item(0)?)? && begun.get_item(1)?.is(&here.get_item(1)?);
    Ok(is_same && (taker == caller || flags(here)? & GOES_ON_ELSEWHERE != 0))
}

/// The same for every block that begins at one instruction of one frame: of such, a statement ends one before the next begins.
pub fn instruction(place: &Bound<'_, PyTuple>) -> PyResult<(usize, usize, i64)> {
    Ok((place.get_item(0)?.extract()?, place.get_item(1)?.as_ptr() as usize, place.get_item(2)?.extract()?))
}

/// The places of one caller that run: that of a call, and those that it came from.
pub struct Running(HashSet<(usize, usize)>);

impl Running {
    pub fn at(frame: &Bound<'_, PyAny>) -> PyResult<Self> {
        let back = intern!(frame.py(), "f_back");
        let code = intern!(frame.py(), "f_code");
        let mut running = HashSet::new();
        let mut outer = frame.clone();
        while !outer.is_none() {
            running.insert((outer.as_ptr() as usize, outer.getattr(code)?.as_ptr() as usize));
            outer = outer.getattr(back)?;
        }
        Ok(Running(running))
    }

    /// Whether the end of a block that this caller began at `begun` may be still to come from there: it runs, or is a generator's.
    pub fn may_end(&self, begun: &Bound<'_, PyTuple>) -> PyResult<bool> {
        Ok(flags(begun)? & GENERATOR != 0 || self.0.contains(&(begun.get_item(0)?.extract()?, begun.get_item(1)?.as_ptr() as usize)))
    }
}

/// What the code of every `with` statement has, and no other code: one instruction, by its number in this Python.
static STATEMENT: AtomicU16 = AtomicU16::new(UNKNOWN);

/// More than any instruction has: this Python does not tell, and no block counts as a statement's.
const UNKNOWN: u16 = u16::MAX;

/// Learns how `with` statements are known, when the module is imported: later it would run Python code, and signal handlers with it,
/// between the end of a block and its release.
pub fn learn(py: Python<'_>) -> PyResult<()> {
    let number = py.import("opcode")?.getattr("opmap")?.call_method1("get", ("WITH_EXCEPT_START", UNKNOWN))?;
    STATEMENT.store(number.extract()?, Relaxed);
    Ok(())
}

/// Whether the code of that place has a `with` statement: then one began the block, and ends it.
pub fn is_statement(place: &Bound<'_, PyTuple>) -> PyResult<bool> {
    let code = place.get_item(1)?.getattr(intern!(place.py(), "co_code"))?.cast_into::<PyBytes>()?;
    // Every instruction is one byte, and one more for its argument.
    Ok(code.as_bytes().iter().step_by(2).any(|byte| u16::from(*byte) == STATEMENT.load(Relaxed)))
}

fn flags(place: &Bound<'_, PyTuple>) -> PyResult<u32> {
    place.get_item(1)?.getattr(intern!(place.py(), "co_flags"))?.extract()
}
