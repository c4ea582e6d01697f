//! `redlatch run` on real servers, as a shell uses it.

mod commands;
mod elections;
mod engines;
mod environment;
mod exit_codes;
mod keeping;
mod losses;
mod overlaps;
mod pipes;
mod process;
mod secrets;
mod servers;
mod sharing;
mod signals;
mod terminal;
mod waits;

use process::{Folder, Running, redlatch, run};
