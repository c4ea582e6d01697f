//! The holds that were taken through one lock object and have not ended, as `(taker, hold, place)`, the latest last: blocks with the place at
//! which they began, others with None. An end comes from any thread or task: these rules say which hold it ends. All of this runs under the
//! GIL and runs no Python code, so two ends never find the same one.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use redlatch::Look;

use crate::gone;
use crate::held::Held;
use crate::places;

/// As many records are kept without a look at which of them have been released by their holds.
const FEW: usize = 16;

/// Notes a hold that `taker` has taken, for a block that begins at `place`.
#[pyfunction]
#[pyo3(signature = (records, taker, hold, place = None))]
pub fn record(records: &Bound<'_, PyList>, taker: i64, hold: &Bound<'_, PyAny>, place: Option<&Bound<'_, PyTuple>>) -> PyResult<()> {
    if records.len() >= FEW && records.len().is_power_of_two() {
        forget_released(records)?;
    }
    records.append((taker, hold, place))
}

/// Takes out the hold that an end by `taker` ends, if there is one. The end of a `with` statement ends what that statement began. Of what
/// none began: the taker's own latest, whatever became of it; else one that has ended by itself; else, where an end may come from
/// `anywhere`, the latest of the one owner that has any.
#[pyfunction]
#[pyo3(signature = (records, taker, anywhere, place = None))]
pub fn ending<'py>(
    records: &Bound<'py, PyList>,
    taker: i64,
    anywhere: bool,
    place: Option<&Bound<'py, PyTuple>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let all: Vec<_> = (0..records.len()).rev().map(|at| record_at(records, at).map(|record| (at, record))).collect::<PyResult<_>>()?;
    if let Some(here) = place {
        for (at, record) in &all {
            if began_at(record, here, taker)? {
                return take(records, *at).map(Some);
            }
        }
    }
    let mut open = Vec::with_capacity(all.len());
    for (at, record) in &all {
        if !of_statement(record)? {
            open.push((*at, record));
        }
    }
    if open.is_empty() {
        open.extend(all.iter().map(|(at, record)| (*at, record)));
    }
    let found = match find(&open, |record| Ok(taker_of(record)? == taker))? {
        Some(at) => Some(at),
        None => find(&open, |record| Ok(!is_held(record)?))?,
    };
    let found = match found {
        None if anywhere && are_of_one_owner(&open)? => open.first().map(|(at, _)| *at),
        found => found,
    };
    found.map(|at| take(records, at)).transpose()
}

/// Whether `taker` has taken any.
#[pyfunction]
pub fn has_of(records: &Bound<'_, PyList>, taker: i64) -> PyResult<bool> {
    for at in 0..records.len() {
        if taker_of(&record_at(records, at)?)? == taker {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Forgets what was released by its hold: no end is to come for it, but for that of a `with` statement.
#[pyfunction]
pub fn forget_released(records: &Bound<'_, PyList>) -> PyResult<()> {
    for at in (0..records.len()).rev() {
        let record = record_at(records, at)?;
        if matches!(hold_of(&record)?.get().look(), Look::Gone) && !of_statement(&record)? {
            records.del_item(at)?;
        }
    }
    Ok(())
}

/// Forgets what no end can mean any more, where none comes from another thread or task: its taker is gone, and no `with` statement began it.
/// A hold that a program keeps for itself stays.
#[pyfunction]
pub fn forget_gone(records: &Bound<'_, PyList>) -> PyResult<()> {
    let mut gone = Vec::new();
    for at in (0..records.len()).rev() {
        let record = record_at(records, at)?;
        if !gone::lives(taker_of(&record)?) && !of_statement(&record)? {
            records.del_item(at)?;
            gone.push(record);
        }
    }
    // The end of a hold warns of it, which runs Python code.
    drop(gone);
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

/// The place in its list of the latest that is so.
fn find<'py>(open: &[(usize, &Bound<'py, PyTuple>)], is_so: impl Fn(&Bound<'py, PyTuple>) -> PyResult<bool>) -> PyResult<Option<usize>> {
    for (at, record) in open {
        if is_so(record)? {
            return Ok(Some(*at));
        }
    }
    Ok(None)
}

fn are_of_one_owner(open: &[(usize, &Bound<'_, PyTuple>)]) -> PyResult<bool> {
    let mut owner = None;
    for (_, record) in open {
        let this = hold_of(record)?.get().owner();
        if *owner.get_or_insert(this) != this {
            return Ok(false);
        }
    }
    Ok(owner.is_some())
}

fn is_held(record: &Bound<'_, PyTuple>) -> PyResult<bool> {
    Ok(matches!(hold_of(record)?.get().look(), Look::Held { .. }))
}

fn began_at(record: &Bound<'_, PyTuple>, here: &Bound<'_, PyTuple>, caller: i64) -> PyResult<bool> {
    place_of(record)?.map_or(Ok(false), |begun| places::is_same(&begun, here, taker_of(record)?, caller))
}

fn of_statement(record: &Bound<'_, PyTuple>) -> PyResult<bool> {
    place_of(record)?.map_or(Ok(false), |begun| places::is_statement(&begun))
}

fn record_at<'py>(records: &Bound<'py, PyList>, at: usize) -> PyResult<Bound<'py, PyTuple>> {
    Ok(records.get_item(at)?.cast_into()?)
}

fn taker_of(record: &Bound<'_, PyTuple>) -> PyResult<i64> {
    record.get_item(0)?.extract()
}

fn hold_of<'py>(record: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Held>> {
    Ok(record.get_item(1)?.cast_into()?)
}

fn place_of<'py>(record: &Bound<'py, PyTuple>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    record.get_item(2)?.extract().map_err(Into::into)
}
