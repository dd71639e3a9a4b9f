"""Tests that are coroutines run each in a loop of its own; a home is never the developer's."""

import asyncio
import inspect
from pathlib import Path

import pytest
from support import DEADLINE, Home


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in wanted}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), DEADLINE))
    return True


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)
