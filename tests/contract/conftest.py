"""Hypothesis looks for faults here, not for slowness: a busy machine is none."""

from hypothesis import HealthCheck, settings

settings.register_profile("contract", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("contract")
