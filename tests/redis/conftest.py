import pytest
from server import Server


@pytest.fixture(scope="session")
def shared_server():
    with Server() as server:
        yield server
        assert server.is_alive()


@pytest.fixture
def server(shared_server):
    """The same server for all tests, empty."""
    wire = shared_server.wire()
    wire("FLUSHALL")
    wire.close()
    return shared_server


@pytest.fixture
def r(server):
    wire = server.wire()
    yield wire
    wire.close()


@pytest.fixture
def r3(server):
    wire = server.wire(protocol=3)
    yield wire
    wire.close()
