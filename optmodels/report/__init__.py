"""The report: one page, for whoever answers for the data, of what was promised, achieved, risked and lost."""

from optmodels.report.dossier import Described, Dossier
from optmodels.report.page import page

__all__ = ["Described", "Dossier", "page"]
