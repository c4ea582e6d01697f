"""What annotations name and not every Python has, so that `typing.get_type_hints` finds it where a program runs."""

from __future__ import annotations

import sys
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self as Self
elif sys.version_info >= (3, 11):
    from typing import Self
else:
    Self = Any

#: A frame, by its identity and its code, and the instruction that it is at.
Place = tuple[int, CodeType, int]
