"""Names of decorating locks with arguments of the decorated function in them: `order:{order_id}`."""

from __future__ import annotations

import inspect
import string
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable

from redlatch.errors import ConfigError

#: Fills a name with the arguments of one call.
Rename = Callable[[str], str]


class Template:
    """Lock names with arguments of one function in them.

    They are written as for `str.format`, by name: `{order_id}`, `{order.id}`, `{day:%Y-%m-%d}`; `{{` is a brace.
    """

    def __init__(self, function: Callable[..., Any], names: Iterable[str]) -> None:
        self._function = function
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters
        rest = [name for name, parameter in parameters.items() if parameter.kind is inspect.Parameter.VAR_KEYWORD]
        self._rest = rest[0] if rest else None
        for name in names:
            for argument in _arguments(name):
                if argument not in parameters and not (rest and argument.isidentifier()):
                    raise ConfigError(
                        f"the name `{name}` asks for an argument `{argument}`, which {self._title} does not take; "
                        f"name one that it takes, or write {{{{ and }}}} for braces that belong to the name",
                        name,
                    )

    def rename(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Rename:
        """Returns the function that fills names with the arguments of a call.

        Raises TypeError, as the call would, if the arguments do not fit the function.
        """
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError(f"{self._title} {e}") from None
        bound.apply_defaults()
        values = {**(bound.arguments[self._rest] if self._rest else {}), **bound.arguments}
        return lambda name: self._filled(name, values)

    def _filled(self, name: str, values: Mapping[str, Any]) -> str:
        try:
            return _FORMAT.vformat(name, (), values)
        except KeyError as e:
            cause = f"the argument {e}, which this call does not have"
        except (AttributeError, IndexError, TypeError, ValueError) as e:
            cause = f"what its arguments do not give: {e}"
        raise ConfigError(f"the name `{name}` of {self._title} asks for {cause}", name)

    @property
    def _title(self) -> str:
        return f"{getattr(self._function, '__qualname__', repr(self._function))}()"


def of(function: Callable[..., Any], names: Iterable[str]) -> Template | None:
    """The template of these names; None: they have no braces, so they are the same for every call."""
    names = tuple(names)
    return Template(function, names) if any(brace in name for name in names for brace in "{}") else None


class _Format(string.Formatter):
    """`str.format`, but it refuses values without a text of their own, such as an address in memory.

    Two processes would make different names of such a value, and so different locks.
    """

    def format_field(self, value: Any, format_spec: str) -> Any:
        if isinstance(value, (bytes, bytearray)):
            raise TypeError(f"{value!r} is no text; decode it first")
        if all(getattr(type(value), text) is getattr(object, text) for text in ("__format__", "__str__", "__repr__")):
            raise TypeError(f"a {type(value).__qualname__} has no text of its own; name one of its attributes")
        return super().format_field(value, format_spec)


_FORMAT = _Format()


def _arguments(name: str) -> Iterator[str]:
    """The arguments in a name. An argument without a name is empty or a number."""
    try:
        for _, field, spec, _ in _FORMAT.parse(name):
            if field is not None:
                yield field.split(".")[0].split("[")[0]
                yield from _arguments(spec or "")
    except ValueError as e:
        raise ConfigError(
            f"the name `{name}` cannot be filled with arguments: {e}; write {{{{ and }}}} for braces", name
        ) from None
