#!/bin/sh
# Build the wheel, install it with the source out of reach, and do the main job with it.
set -eu
root=$(pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$PYTHON" -m pip --python "$BIN/python" --disable-pip-version-check wheel -q --no-deps --wheel-dir "$scratch/dist" "$root"
"$PYTHON" -m venv --without-pip "$scratch/venv"
"$PYTHON" -m pip --python "$scratch/venv/bin/python" --disable-pip-version-check install -q "$scratch"/dist/*.whl pytest hypothesis
cp -r "$root/tests" "$root/docs" "$root/README.md" "$root/pyproject.toml" "$scratch"
mkdir "$scratch/home"
export HOME="$scratch/home" XDG_CONFIG_HOME="$scratch/home/config" XDG_DATA_HOME="$scratch/home/data"
export XDG_STATE_HOME="$scratch/home/state" XDG_CACHE_HOME="$scratch/home/cache"
cd "$scratch"
venv/bin/vespe demo > demo.txt
venv/bin/vespe kit list --json | venv/bin/python -c 'import json, sys; kits = json.load(sys.stdin)["kits"]; print(len(kits), "kits,", sum(k["tools"] for k in kits), "tools in the wheel"); assert sum(k["tools"] for k in kits) >= 15'
venv/bin/vespe doctor --escapes | tail -1
PYTHONWARNDEFAULTENCODING=1 venv/bin/python -m pytest -q tests/acceptance/test_main_job.py tests/repository/test_package.py
