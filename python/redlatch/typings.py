"""Types for annotations that some Pythons lack. They exist at run time, so that `typing.get_type_hints` finds them."""

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

#: A frame and its instruction: the identity of the frame, its code, the index of the instruction.
Place = tuple[int, CodeType, int]
