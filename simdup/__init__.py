"""simdup finds files that hold the same text: same bytes, another encoding, or edited.

Begin with `scan`, which runs all stages. The stages can also be called one by one:
`fingerprint_texts`, `pairs_within`, `exact_similarities`, `group`. `evaluate` measures how
accurate the answers are, and `Index` keeps a collection and finds the texts similar to a given one.

README.md beside this file describes each folder.
A public name is imported when it is first used, so `import simdup` costs almost nothing. The names
stand in __init__.pyi.
Source: PEP 562.
"""


def __getattr__(name: str) -> object:
    """Import the module of a public name when the name is first used, and return its value."""
    if name == "__all__":
        return sorted(_homes())
    home = None if name.startswith("_") else _homes().get(name)
    if home is None:
        raise AttributeError(f"module 'simdup' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  not before it is needed

    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of the module, with the public names that are not imported yet."""
    return sorted({*globals(), *_homes()})


def _homes() -> dict[str, str]:
    """The module of each public name, as __init__.pyi imports it for type checkers."""
    import re  # noqa: PLC0415  see above

    data = __loader__.get_data(f"{__path__[0]}/__init__.pyi")  # also of a zip file
    imports = re.findall(r"^from (\S+) import (\w+)", data.decode(), re.MULTILINE)
    return {name: module for module, name in imports}
