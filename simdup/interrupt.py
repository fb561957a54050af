"""Lets Ctrl-C end simdup at once while it starts or ends, with one line and exit code 130.

An exception is not reliable at these times: while modules are imported, Python and compiled
modules drop some exceptions, print them or turn them into others. No work is under way, so nothing
is lost.
This module imports next to nothing, because Ctrl-C is not handled until it is loaded.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:
    import _signal as signal  # built in; `signal` itself first makes enums of all the numbers

#: Exit code after Ctrl-C: 128 plus the number of the signal, as for programs killed by it.
INTERRUPTED = 130

#: The environment variable that shells set for Tab completion, to `bash_complete` and the like.
COMPLETING = "_SIMDUP_COMPLETE"


def end_at_once() -> None:
    """Let Ctrl-C end the program from now on, unless simdup was started with Ctrl-C ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)


def raise_again() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, if `end_at_once` was called before."""
    if signal.getsignal(signal.SIGINT) is end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end(*_: object) -> "NoReturn":
    """Print that the program was interrupted, and end it without running anything else.

    Nothing is printed during Tab completion, since the user is still typing.
    """
    try:
        if not os.environ.get(COMPLETING):
            os.write(2, b"simdup: interrupted\n")
    finally:  # even if stderr is closed
        os._exit(INTERRUPTED)
