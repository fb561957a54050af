"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# The first example of a test may build tables that take longer than a deadline allows.
settings.register_profile("simdup", deadline=None)
settings.load_profile("simdup")
