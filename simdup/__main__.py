"""Start the program: `python -m simdup`, and the `simdup` command.

Importing what the program uses takes some tenths of a second. This module imports nothing before
`main` runs, so that Ctrl-C is handled from the first moment.
"""


def main() -> None:
    """Run the program and exit; Ctrl-C at any moment prints one line and exits with 130."""
    try:
        import gc  # noqa: PLC0415  see above

        gc.disable()  # until a command has imported what it needs: imports leave no garbage
        from simdup.interrupt import end_at_once  # noqa: PLC0415  see above

        end_at_once()
        from simdup.cli import main as run  # noqa: PLC0415  see above

        try:
            run()
        finally:
            end_at_once()
    except KeyboardInterrupt:  # before the first call of `end_at_once`, or just before the last
        from simdup.interrupt import end  # noqa: PLC0415  see above

        end()


if __name__ == "__main__":
    main()
