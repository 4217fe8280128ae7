"""Pyomo models that several formulations share."""
