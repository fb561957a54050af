"""The cells of notebooks."""

from __future__ import annotations

import json

import pytest

from simdup.extract.cleanup import NotReadable
from simdup.extract.notebook import text


def notebook(*cells, **more):
    return json.dumps({"cells": cells, "metadata": {"a": "no"}, "nbformat": 4} | more).encode()


def test_prose_and_code_without_output():
    source = notebook(
        {"cell_type": "markdown", "source": ["# Tea\n", "\n", "Warm *it*."], "attachments": {}},
        {"cell_type": "code", "source": "boil(1)", "outputs": [{"text": ["no"]}]},
        {"cell_type": "raw", "source": "raw"},
    )

    assert text(source) == "# Tea\nWarm *it*.\nboil(1)\nraw"


def test_version_3_has_worksheets():
    sheet = {"cells": [{"cell_type": "code", "input": ["a\n", "b"], "outputs": [{"text": "no"}]}]}

    assert text(json.dumps({"worksheets": [sheet], "nbformat": 3}).encode()) == "a\nb"


@pytest.mark.parametrize(
    "data",
    [
        b'{"cells": [',
        b'{"cells": []}',
        b'{"cells": [], "nbformat": "4"}',
        b"[]",
        b'{"cells": ' + b"[" * 200_000,
        b'{"cells": ' + b'{"a":' * 200_000,
        b"\xff\xfe\0\0{",
    ],
)
def test_no_notebook(data):
    with pytest.raises(NotReadable, match=r"^no(t text: .*| notebook)$"):
        text(data)


@pytest.mark.parametrize("cells", [7, {}, [7, None, "a"], [{"source": 7}], [{"source": [7, []]}]])
def test_cells_of_wrong_types(cells):
    with pytest.raises(NotReadable, match="^no text in it$"):
        text(json.dumps({"cells": cells, "worksheets": cells, "nbformat": 4}).encode())
