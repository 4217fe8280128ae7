"""Synthetic tables in the shape of ones that cannot be shared; nothing in them is drawn from real people."""

from optmodels.synthetic.health import HealthRecords as HealthRecords
from optmodels.synthetic.health import health_like as health_like
from optmodels.synthetic.sepsis import sepsis_like as sepsis_like
