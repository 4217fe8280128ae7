"""Synthetic tables in the shape of ones that cannot be shared; nothing in them is drawn from real people."""

from optmodels.datasets.synthetic.health import HealthRecords as HealthRecords
from optmodels.datasets.synthetic.health import health_like as health_like
from optmodels.datasets.synthetic.sepsis import sepsis_like as sepsis_like
