"""Any Pyomo view, solved as a mixed-integer linear program with incumbent, bound and gap."""

from solvers.milp._milp import Milp

__all__ = ["Milp"]
