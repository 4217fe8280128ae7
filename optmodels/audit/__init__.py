"""The audit: what a table as it stands protects and what it risks, from its values alone."""

from optmodels.audit._audit import Audit, audit, audit_table

__all__ = ["Audit", "audit", "audit_table"]
