"""Fixtures for all tests: small tables with a fixed seed."""
import pytest
from hypothesis import settings

import tamis

# The same examples on every run, so that everybody can reproduce a failure. No deadline: machines differ.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("fixed")

SEED = 0x0123456789ABCDEF_FEDCBA9876543210


@pytest.fixture
def small():
    """A set with room for a thousand keys."""
    return tamis.Set(capacity=1000, fpr=1e-6, seed=SEED)


@pytest.fixture
def counter():
    return tamis.Counter(capacity=1000, fpr=1e-6, seed=SEED)


@pytest.fixture
def states():
    return tamis.States(values=8, capacity=1000, fpr=1e-6, seed=SEED)
