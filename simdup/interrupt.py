"""What Ctrl-C does while simdup starts and ends: one line and exit code 130, at once.

An exception is not reliable then. While modules are imported, Python and compiled modules drop
some exceptions, print them or turn them into others. No work is under way, so nothing is lost.
This module imports next to nothing, because until it is loaded nothing answers Ctrl-C.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:
    import _signal as signal  # built in; `signal` itself first makes enums of all the numbers

#: Exit code after Ctrl-C: 128 and the number of the signal, as for programs that it kills.
INTERRUPTED = 130

#: The variable that a completion script sets when it asks, to `bash_complete` and the like.
COMPLETING = "_SIMDUP_COMPLETE"


def end_at_once() -> None:
    """Let Ctrl-C end the program from now on, unless whoever started it has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)


def raise_again() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, if `end_at_once` was called before."""
    if signal.getsignal(signal.SIGINT) is end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end(*_: object) -> "NoReturn":
    """Say that the program was interrupted, and end it without running anything else.

    Nothing is said during Tab completion, whose user is still typing.
    """
    try:
        if not os.environ.get(COMPLETING):
            os.write(2, b"simdup: interrupted\n")
    finally:  # even if stderr is closed
        os._exit(INTERRUPTED)
