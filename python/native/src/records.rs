//! The holds that were taken through one lock object and have not ended, as `(taker, hold, place)`, the latest last: blocks with the place at
//! which they began, others with None. An end comes from any thread or task: these rules say which hold it ends. All of this runs under the
//! GIL and runs no Python code, so two ends never find the same one.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use redlatch::Look;

use crate::gone;
use crate::held::Held;
use crate::places::{self, Running};

/// As many records are kept without a look at which of them have been released by their holds.
const FEW: usize = 16;

/// Notes a hold that `taker` has taken, for a block that begins at `place`. `frame` is one of the caller's that runs.
#[pyfunction]
#[pyo3(signature = (records, taker, hold, place = None, frame = None))]
pub fn record(
    records: &Bound<'_, PyList>,
    taker: i64,
    hold: &Bound<'_, PyAny>,
    place: Option<&Bound<'_, PyTuple>>,
    frame: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    if records.len() >= FEW && records.len().is_power_of_two() {
        forget_ended(records, place, frame.map(|frame| (taker, frame)))?;
    }
    records.append((taker, hold, place))
}

/// Takes out the hold that an end by `taker` ends, if there is one. The end of a `with` statement ends what that statement began. Of what
/// none began: the taker's own latest, whatever became of it; else one that has ended by itself; else, where an end may come from
/// `anywhere`, the latest of the one owner that has any. `frame` is that of the end, of a block's.
#[pyfunction]
#[pyo3(signature = (records, taker, anywhere, frame = None))]
pub fn ending<'py>(
    records: &Bound<'py, PyList>,
    taker: i64,
    anywhere: bool,
    frame: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    meant(records, taker, anywhere, frame)?.map(|at| take(records, at)).transpose()
}

/// Which hold an end by `taker` ends that is no block's, if there is one: its taker and its serial number.
#[pyfunction]
pub fn hold_meant(records: &Bound<'_, PyList>, taker: i64, anywhere: bool) -> PyResult<Option<(i64, u64)>> {
    let Some(at) = meant(records, taker, anywhere, None)? else { return Ok(None) };
    let record = record_at(records, at)?;
    Ok(Some((taker_of(&record)?, hold_of(&record)?.get().serial)))
}

/// Forgets what was released by its hold: no end is to come for it, but for that of a `with` statement.
#[pyfunction]
pub fn forget_released(records: &Bound<'_, PyList>) -> PyResult<()> {
    forget_ended(records, None, None)
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

/// Forgets what was released by its hold, but for that of a `with` statement that may be still to end. A block begins now at `place`;
/// `caller`: the taker that calls, and a frame of it.
fn forget_ended(records: &Bound<'_, PyList>, place: Option<&Bound<'_, PyTuple>>, caller: Option<(i64, &Bound<'_, PyAny>)>) -> PyResult<()> {
    let mut begun: HashSet<_> = place.map(places::instruction).transpose()?.into_iter().collect();
    let running = caller.map(|(taker, frame)| Ok::<_, PyErr>((taker, Running::at(frame)?))).transpose()?;
    for at in (0..records.len()).rev() {
        let record = record_at(records, at)?;
        let has_begun_anew = match place_of(&record)? {
            Some(place) => !begun.insert(places::instruction(&place)?),
            None => false,
        };
        let is_released = matches!(hold_of(&record)?.get().look(), Look::Gone);
        if is_released && (has_begun_anew || !of_statement(&record)? || has_ended(&record, running.as_ref())?) {
            records.del_item(at)?;
        }
    }
    Ok(())
}

/// The place in `records` of the hold that an end means, see [`ending`].
fn meant(records: &Bound<'_, PyList>, taker: i64, anywhere: bool, frame: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    let all: Vec<_> = (0..records.len()).rev().map(|at| record_at(records, at).map(|record| (at, record))).collect::<PyResult<_>>()?;
    let here = frame.map(places::place).transpose()?.flatten();
    if let Some(here) = &here
        && let Some(at) = find(all.iter(), |record| began_at(record, here, taker))?
    {
        return Ok(Some(at));
    }
    let is_own = |record: &Bound<'_, PyTuple>| Ok(taker_of(record)? == taker);
    let mut open = Vec::with_capacity(all.len());
    for each in &all {
        if !of_statement(&each.1)? {
            open.push(each);
        }
    }
    if open.is_empty() {
        open.extend(&all);
    }
    if let Some(at) = find(open.iter().copied(), is_own)? {
        return Ok(Some(at));
    }
    // Of what looks like a statement's: its function has returned and left it open, so no statement is to end it.
    if let Some(frame) = frame {
        let running = Some((taker, Running::at(frame)?));
        if let Some(at) = find(all.iter(), |record| has_ended(record, running.as_ref()))? {
            return Ok(Some(at));
        }
    }
    if let Some(at) = find(open.iter().copied(), |record| Ok(!is_held(record)?))? {
        return Ok(Some(at));
    }
    Ok(if anywhere && are_of_one_owner(&open)? { open.first().map(|(at, _)| *at) } else { None })
}

/// Whether the block of that record is one of the caller's, and the function that began it has returned.
fn has_ended(record: &Bound<'_, PyTuple>, caller: Option<&(i64, Running)>) -> PyResult<bool> {
    let (Some(begun), Some((taker, running))) = (place_of(record)?, caller) else { return Ok(false) };
    Ok(taker_of(record)? == *taker && !running.may_end(&begun)?)
}

/// Takes a record out, and gives its hold.
pub fn take<'py>(records: &Bound<'py, PyList>, at: usize) -> PyResult<Bound<'py, PyAny>> {
    let record = record_at(records, at)?;
    records.del_item(at)?;
    record.get_item(1)
}

/// The place in its list of the latest that is so.
fn find<'a, 'py: 'a>(
    records: impl Iterator<Item = &'a (usize, Bound<'py, PyTuple>)>,
    is_so: impl Fn(&Bound<'py, PyTuple>) -> PyResult<bool>,
) -> PyResult<Option<usize>> {
    for (at, record) in records {
        if is_so(record)? {
            return Ok(Some(*at));
        }
    }
    Ok(None)
}

fn are_of_one_owner(open: &[&(usize, Bound<'_, PyTuple>)]) -> PyResult<bool> {
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
