"""The error of a program that pickles or copies an object of redlatch, mostly to hand it to another process."""

from __future__ import annotations

from typing import ClassVar, NoReturn


class NotPickled:
    """An object of this process and its connections."""

    __slots__ = ()

    #: The remedy.
    _instead: ClassVar[str] = (
        "make one in each process: a client that is a variable of a module is made anew where that module is imported"
    )

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} of redlatch cannot be pickled or copied; {self._instead}")
