//! The place where a block begins: the frame that calls `__enter__`, as `(its identity, its code, its instruction)`.
//!
//! The frame of a `with` statement calls `__exit__` as well, even if its generator goes on in another thread by then.
//! So the frame tells which block ends. Frames are compared by identity, and no reference to a frame is kept: it would
//! keep alive the variables of a frame that has ended, and the frame would keep alive its lock. A later frame may have
//! the same identity, but it seldom has the same code as well.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// The bits of `code.co_flags` for code that can be suspended: generators, coroutines, coroutines made of generators,
/// async generators.
const GOES_ON_ELSEWHERE: u32 = GENERATOR | 0x80;

/// The bits for code that a program can suspend and keep: generators, coroutines made of them, async generators. A
/// coroutine is only suspended together with its task.
const GENERATOR: u32 = 0x20 | 0x100 | 0x200;

/// The place of a frame. `None` for the frame of a call from native code.
#[pyfunction]
pub fn place<'py>(frame: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    if frame.is_none() {
        return Ok(None);
    }
    let py = frame.py();
    let code = frame.getattr(intern!(py, "f_code"))?;
    (frame.as_ptr() as usize, code, frame.getattr(intern!(py, "f_lasti"))?).into_pyobject(py).map(Some)
}

/// Whether `caller` ends at `here` the block that `taker` began at `begun`. Another caller can only end the block of a
/// frame that can be suspended. A call from compiled code seems to come from the nearest Python frame, which may be
/// that of an event loop.
pub fn is_same(begun: &Bound<'_, PyTuple>, here: &Bound<'_, PyTuple>, taker: i64, caller: i64) -> PyResult<bool> {
    let is_same = begun.get_item(0)?.eq(here.get_item(0)?)? && begun.get_item(1)?.is(&here.get_item(1)?);
    Ok(is_same && (taker == caller || flags(here)? & GOES_ON_ELSEWHERE != 0))
}

/// A value that is the same for all blocks that begin at one instruction of one frame. A statement ends one of them
/// before the next begins.
pub fn instruction(place: &Bound<'_, PyTuple>) -> PyResult<(usize, usize, i64)> {
    Ok((place.get_item(0)?.extract()?, place.get_item(1)?.as_ptr() as usize, place.get_item(2)?.extract()?))
}

/// The frames of one caller that run: the one that calls, and all frames that called it.
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

    /// Whether the frame that began a block at `begun` may still end it: it runs, or it is a generator's.
    pub fn may_end(&self, begun: &Bound<'_, PyTuple>) -> PyResult<bool> {
        Ok(flags(begun)? & GENERATOR != 0
            || self.0.contains(&(begun.get_item(0)?.extract()?, begun.get_item(1)?.as_ptr() as usize)))
    }
}

/// The number of an instruction in this Python that every `with` statement has, and no other code.
static STATEMENT: AtomicU16 = AtomicU16::new(UNKNOWN);

/// A number that no instruction has, for a Python without that instruction. No block counts as a statement's there.
const UNKNOWN: u16 = u16::MAX;

/// Finds that instruction when the module is imported. Later the search would run Python code, and perhaps signal
/// handlers, between the end of a block and its release.
pub fn learn(py: Python<'_>) -> PyResult<()> {
    let number = py.import("opcode")?.getattr("opmap")?.call_method1("get", ("WITH_EXCEPT_START", UNKNOWN))?;
    STATEMENT.store(number.extract()?, Relaxed);
    Ok(())
}

/// Whether the code of that place has a `with` statement. If so, that statement began the block and will end it.
pub fn is_statement(place: &Bound<'_, PyTuple>) -> PyResult<bool> {
    let code = place.get_item(1)?.getattr(intern!(place.py(), "co_code"))?.cast_into::<PyBytes>()?;
    // Every instruction has two bytes: its number and its argument.
    Ok(code.as_bytes().iter().step_by(2).any(|byte| u16::from(*byte) == STATEMENT.load(Relaxed)))
}

fn flags(place: &Bound<'_, PyTuple>) -> PyResult<u32> {
    place.get_item(1)?.getattr(intern!(place.py(), "co_flags"))?.extract()
}
