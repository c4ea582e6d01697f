"""Types for annotations that some Pythons lack. They exist at run time, so that `typing.get_type_hints` finds them."""

from __future__ import annotations

import sys
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import ParamSpec
    from typing_extensions import Self as Self
else:
    if sys.version_info >= (3, 11):
        from typing import Self
    else:
        Self = Any
    if sys.version_info >= (3, 10):
        from typing import ParamSpec
    else:
        ParamSpec = TypeVar

#: The parameters of a function.
P = ParamSpec("P")
#: A frame and its instruction: the identity of the frame, its code, the index of the instruction.
Place = tuple[int, CodeType, int]
