"""A release: a table recoded by a partition, audited from its own values before anything can be written."""

from optmodels.release._release import Method, Release, Suppressed, recode, release

__all__ = ["Method", "Release", "Suppressed", "recode", "release"]
