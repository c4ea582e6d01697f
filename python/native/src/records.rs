//! The holds that were taken through one lock object and have not ended, and the rules that say which of them an end
//! ends. An end may come from any thread or task.
//!
//! A record is `(taker, hold, place)`, and the latest record is the last one. `taker` is the thread or task that took
//! the hold. `place` is where its block began, None for a hold without a block. All of this runs under the GIL and runs
//! no Python code, so two ends never find the same hold.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use redlatch::ffi::Look;

use crate::gone;
use crate::held::Held;
use crate::places::{self, Running};

/// From so many records on, the list is searched for holds that were released by themselves.
const FEW: usize = 16;

/// Notes a hold that `taker` has taken, for a block that begins at `place`. `frame` is the caller's frame that runs.
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

/// Takes out the hold that an end by `taker` ends, if there is one. `frame` is the frame that ends a block.
///
/// The end of a `with` statement ends the hold that the statement began with. Every other end ends one of the holds
/// that no statement began: the taker's own latest one, even if it was lost or released; else one that has ended by
/// itself; else, with `anywhere`, the latest one if all of them have the same owner.
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

/// The hold that an end by `taker` without a block would end, if there is one: its taker and its serial number.
#[pyfunction]
pub fn hold_meant(records: &Bound<'_, PyList>, taker: i64, anywhere: bool) -> PyResult<Option<(i64, u64)>> {
    let Some(at) = meant(records, taker, anywhere, None)? else { return Ok(None) };
    let record = record_at(records, at)?;
    Ok(Some((taker_of(&record)?, hold_of(&record)?.get().serial)))
}

/// Forgets the holds that were released by themselves. No end will come for them, unless a `with` statement began them.
#[pyfunction]
pub fn forget_released(records: &Bound<'_, PyList>) -> PyResult<()> {
    forget_ended(records, None, None)
}

/// Forgets the records that no end can find any more, in a lock whose ends come from the taker alone: the taker is
/// gone, and no `with` statement began the hold. A hold whose object the program keeps stays held.
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
    // Dropping a hold may warn of it, which runs Python code. So it happens after the list has been changed.
    drop(gone);
    Ok(())
}

/// How many of the holds are held.
#[pyfunction]
pub fn count_held(records: &Bound<'_, PyList>) -> PyResult<usize> {
    let mut count = 0;
    for at in 0..records.len() {
        count += usize::from(is_held(&record_at(records, at)?)?);
    }
    Ok(count)
}

/// Forgets the holds that were released by themselves, except those whose `with` statement may still end. A block
/// begins now at `place`. `caller` is the taker that calls, with a frame of it.
fn forget_ended(
    records: &Bound<'_, PyList>,
    place: Option<&Bound<'_, PyTuple>>,
    caller: Option<(i64, &Bound<'_, PyAny>)>,
) -> PyResult<()> {
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

/// The index in `records` of the hold that an end ends, see [`ending`].
fn meant(
    records: &Bound<'_, PyList>,
    taker: i64,
    anywhere: bool,
    frame: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<usize>> {
    let all: Vec<_> = (0..records.len())
        .rev()
        .map(|at| record_at(records, at).map(|record| (at, record)))
        .collect::<PyResult<_>>()?;
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
    // A block may look like a statement's without being one. If the function that began it has returned, no statement
    // will end it.
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

/// Whether the caller began the block of that record, and the function that began it has returned.
fn has_ended(record: &Bound<'_, PyTuple>, caller: Option<&(i64, Running)>) -> PyResult<bool> {
    let (Some(begun), Some((taker, running))) = (place_of(record)?, caller) else { return Ok(false) };
    Ok(taker_of(record)? == *taker && !running.may_end(&begun)?)
}

/// Takes a record out and returns its hold.
pub fn take<'py>(records: &Bound<'py, PyList>, at: usize) -> PyResult<Bound<'py, PyAny>> {
    let record = record_at(records, at)?;
    records.del_item(at)?;
    record.get_item(1)
}

/// The index of the first of these records that is so. They come latest first.
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
