//! The holds that were taken through one lock object and have not ended, as `(taker, hold)`, the latest last. An end comes from any thread
//! or task: these rules say which hold it ends. All of this runs under the GIL and runs no Python code, so two ends never find the same one.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use redlatch::Look;

use crate::held::Held;

/// As many records are kept without a look at which of them have been released by their holds.
const FEW: usize = 16;

/// Notes a hold that `taker` has taken.
#[pyfunction]
pub fn record(records: &Bound<'_, PyList>, taker: i64, hold: &Bound<'_, PyAny>) -> PyResult<()> {
    if records.len() >= FEW && records.len().is_power_of_two() {
        forget_released(records)?;
    }
    records.append((taker, hold))
}

/// Takes out the hold that an end by `taker` ends, if there is one: the taker's own latest, whatever became of it; else one that has ended
/// by itself; else, where an end may come from `anywhere`, the latest of the one owner that has any.
#[pyfunction]
pub fn ending<'py>(records: &Bound<'py, PyList>, taker: i64, anywhere: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
    let found = find(records, |record| Ok(record.get_item(0)?.extract::<i64>()? == taker))?;
    let found = match found {
        Some(at) => Some(at),
        None => find(records, |record| Ok(!is_held(record)?))?,
    };
    let found = match found {
        None if anywhere && is_of_one_owner(records)? => records.len().checked_sub(1),
        found => found,
    };
    found.map(|at| take(records, at)).transpose()
}

/// Forgets what was released by its hold: no end is to come for it.
#[pyfunction]
pub fn forget_released(records: &Bound<'_, PyList>) -> PyResult<()> {
    for at in (0..records.len()).rev() {
        let record = record_at(records, at)?;
        if matches!(hold_of(&record)?.get().look(), Look::Gone) {
            records.del_item(at)?;
        }
    }
    Ok(())
}

/// How many are held.
#[pyfunction]
pub fn count_held(records: &Bound<'_, PyList>) -> PyResult<usize> {
    let mut count = 0;
    for at in 0..records.len() {
        count += usize::from(is_held(&record_at(records, at)?)?);
    }
    Ok(count)
}

/// Takes a record out, and gives its hold.
pub fn take<'py>(records: &Bound<'py, PyList>, at: usize) -> PyResult<Bound<'py, PyAny>> {
    let record = record_at(records, at)?;
    records.del_item(at)?;
    record.get_item(1)
}

/// The place of the latest that is so.
fn find<'py>(records: &Bound<'py, PyList>, is_so: impl Fn(&Bound<'py, PyTuple>) -> PyResult<bool>) -> PyResult<Option<usize>> {
    for at in (0..records.len()).rev() {
        if is_so(&record_at(records, at)?)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn is_of_one_owner(records: &Bound<'_, PyList>) -> PyResult<bool> {
    let mut owner = None;
    for at in 0..records.len() {
        let this = hold_of(&record_at(records, at)?)?.get().owner();
        if *owner.get_or_insert(this) != this {
            return Ok(false);
        }
    }
    Ok(owner.is_some())
}

fn is_held(record: &Bound<'_, PyTuple>) -> PyResult<bool> {
    Ok(matches!(hold_of(record)?.get().look(), Look::Held { .. }))
}

fn record_at<'py>(records: &Bound<'py, PyList>, at: usize) -> PyResult<Bound<'py, PyTuple>> {
    Ok(records.get_item(at)?.cast_into()?)
}

fn hold_of<'py>(record: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Held>> {
    Ok(record.get_item(1)?.cast_into()?)
}
