"""A file looked at before anything is done with it: what its columns are like, what is odd, which roles fit."""

from optmodels.inspection._inspection import Inspection, inspect_file, inspect_frame
from optmodels.inspection.columns import Column
from optmodels.inspection.findings import Finding

__all__ = ["Column", "Finding", "Inspection", "inspect_file", "inspect_frame"]
