"""MASS (Thammanna Gowda et al. 2026): multi-attribute stratified sampling, k chosen by what it costs."""

from formulations.mass._mass import Mass

__all__ = ["Mass"]
