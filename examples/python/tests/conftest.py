# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import subprocess
from types import SimpleNamespace

import pytest
import stemma

DATA = pathlib.Path(os.environ["STEMMA_DATA"])
FIXTURES = DATA / "fixtures"
MICRO = FIXTURES / "bert_micro"
MODELS = {name: (FIXTURES / name / "model.onnx", FIXTURES / name / "modules.json")
          for name in ("bert_micro", "unet_tiny", "control_flow", "shared_twice")}
MODELS.update({name: (DATA / "dialects" / f"{name}.onnx", None) for name in ("dynamo", "modular_functions")})


def program(*arguments, status=(0,)):
    """What the program prints. Those that find differences end with 1."""
    done = subprocess.run([os.environ["STEMMA_PROGRAM"], *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in status, done.stderr
    return done.stdout


def told(command, *arguments, status=(0,)):
    return json.loads(program(command, *arguments, "--format", "json", status=status))


def refusal(*arguments):
    """The last line of a run that fails, without the name of the program."""
    done = subprocess.run([os.environ["STEMMA_PROGRAM"], *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in (1, 2, 3, 4), (arguments, done.stdout)
    return done.stderr.splitlines()[-1].removeprefix("stemma: ")


def timeless(answer):
    """All but the time that it took."""
    return {key: value for key, value in answer.items() if key != "seconds"}


@pytest.fixture(params=MODELS)
def case(request):
    """A model: `path`, `capture` as arguments of the program, and `model`, opened."""
    path, capture = MODELS[request.param]
    if capture is not None and not capture.exists():
        capture = None
    return SimpleNamespace(path=path, capture=["-m", capture] if capture else [],
                           model=stemma.open(path, capture=capture or ()))


@pytest.fixture
def micro():
    return stemma.open(MICRO / "model.onnx", capture=MICRO / "modules.json")
