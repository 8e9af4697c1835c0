# SPDX-License-Identifier: Apache-2.0
"""A forced split with OpenVINO: scripts/bench-bans on the smallest bundled IR, with few processes and, because machines that
test are busy ones, room for noise."""

import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE"])
PACKAGE = SOURCE / ".deps" / "openvino"


def main():
    if not (PACKAGE / "openvino").exists():
        print(f"SKIPPED: {PACKAGE} is missing; scripts/setup runtime fetches it")
        return 1 if os.environ.get("CI") == "true" else 77
    settings = {"BERTH_RUNTIMES": str(PACKAGE.parent), "BERTH_STORE": "none", "ROUNDS": "2", "MORE_ROUNDS": "2", "TOP": "2", "EVALUATIONS": "8",
                "TOLERANCE": "0.2"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, SOURCE / "scripts" / "bench-bans", os.environ["BERTH"], folder,
                   f"{SOURCE}/models/ir/resnet50.xml=MaxPool,ReduceMean"]
        return subprocess.run(command, env={**os.environ, **settings}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
