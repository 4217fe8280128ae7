from __future__ import annotations

from hypothesis import settings

# The first call of a compiled kernel takes as long as its compilation, so a test case has no deadline; a suite that
# fails must fail again, so examples are drawn from a fixed seed.
settings.register_profile("optmodels", deadline=None, derandomize=True)
settings.load_profile("optmodels")
