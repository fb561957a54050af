"""An index as a file: its connection, what is in it, changing it, checking it."""
