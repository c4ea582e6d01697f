//! The option that decides which clients of ZooKeeper see our places in the queues of locks.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::request::error::{Error, Result};
use crate::request::shown;

/// The names of the nodes by which clients of ZooKeeper contend, see [`crate::Config::node_format`]. Its text is the name in
/// small letters.
///
/// ```
/// assert_eq!("kazoo".parse::<redlatch::NodeFormat>().unwrap(), redlatch::NodeFormat::Kazoo);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeFormat {
    /// As Curator names them, and go-zookeeper.
    #[default]
    Curator,
    /// As kazoo names them.
    Kazoo,
}

impl FromStr for NodeFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "curator" => Ok(NodeFormat::Curator),
            "kazoo" => Ok(NodeFormat::Kazoo),
            _ => Err(Error::config(format!(
                "the node_format `{}` is neither curator nor kazoo",
                shown::value("node_format", text)
            ))),
        }
    }
}

impl Display for NodeFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NodeFormat::Curator => "curator",
            NodeFormat::Kazoo => "kazoo",
        })
    }
}
