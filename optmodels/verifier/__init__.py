"""An independent check of a release: its file read again, every promise worked out anew.

Nothing here comes from the solvers, the conditions or the audit, so that no mistake of theirs is made a second time.
It is pandas and numpy on the file as a stranger would read it.
"""

from optmodels.verifier._verifier import Verdict, verify
from optmodels.verifier.cells import Cells, read_cells
from optmodels.verifier.certificate import load_certificate, verify_certificate
from optmodels.verifier.check import Check
from optmodels.verifier.fingerprints import fingerprint, total
from optmodels.verifier.promise_file import beside, load_promise, sealed

__all__ = [
    "Cells",
    "Check",
    "Verdict",
    "beside",
    "fingerprint",
    "load_certificate",
    "load_promise",
    "read_cells",
    "sealed",
    "total",
    "verify",
    "verify_certificate",
]
