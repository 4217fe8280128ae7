"""The audit: what a table as it stands protects and what it risks, from its values alone."""

from optmodels.audit._audit import Audit, audit, natural_order

__all__ = ["Audit", "audit", "natural_order"]
