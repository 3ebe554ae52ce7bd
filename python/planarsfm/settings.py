"""Options by name."""
from __future__ import annotations

from typing import Any, Mapping


def apply(context: Any, setter: Any, handle: Any, settings: Mapping[str, Any]) -> None:
    """Sets options on a handle; the mode first, since it resets the others. A list sets a name again and again."""
    for name in sorted(settings, key=lambda n: n != "mode"):
        values = settings[name] if isinstance(settings[name], (list, tuple)) else [settings[name]]
        for value in values:
            text = ("on" if value else "off") if isinstance(value, bool) else str(value)
            context.check(setter(context.handle, handle, name.encode(), text.encode(errors="surrogateescape")))
