"""A plan as a shell script that people can read and shorten, and that still runs every check."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from simdup.clean.plan import action_line, plan_lines
from simdup.clean.records import Plan
from simdup.report.wording import count, printable, size


def render(plan: Plan, options: Sequence[str]) -> Iterator[str]:
    """The lines of a POSIX script with a command for each action of a plan.

    Each command gives one action to `simdup clean - --apply`, with these options of the command
    line. The script has no other command that changes anything.
    """
    header = next(plan_lines(plan))
    given = shlex.join(["clean", "-", "--apply", "--quiet", *options])
    yield from (
        "#!/bin/sh",
        f"# {count(len(plan.actions), 'file')} of a plan of {printable(plan.header.of)}.",
        "# Any command below may be deleted. simdup checks each file again before it acts.",
        f"header={shlex.quote(header)}",
        "status=0",
        "act() {",
        '  printf \'%s\\n%s\\n\' "$header" "$1" |',
        f'    "${{SIMDUP:-simdup}}" {given} || status=$?',
        "}",
    )
    for each in plan.actions:
        alike = each.kind.value
        yield ""
        yield f"# group {each.group}, keeps {printable(each.keep.path)}"
        yield f"# {each.act.value} {printable(each.file.path)} ({alike}, {size(each.file.size)})"
        yield f"act {shlex.quote(action_line(each))}"
    yield ""
    yield 'exit "$status"'
