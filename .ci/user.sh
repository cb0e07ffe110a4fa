# An ordinary user for root's machine, in a home like people's homes, with a copy of this checkout: sourced by .ci/run.
# What cannot be made is a sentence in `why`, and a function that ends with 1; nothing here ends the gate.
# shellcheck shell=bash

user='' home='' python='' path='' why=''

# Run a command as the user, with this environment and the user's home, away from what is root's alone. What setpriv itself starts is
# still found with root's rights; what the shell in between starts is not.
as_user() {
  env -u PYENV_ROOT -u PYENV_VERSION -u PYENV_DIR -u TMPDIR -u PIP_CACHE_DIR -u npm_config_cache -u CARGO_HOME -u RUSTUP_HOME \
    -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u XDG_STATE_HOME -u XDG_CACHE_HOME -u XDG_RUNTIME_DIR \
    -u SUDO_USER -u SUDO_UID -u SUDO_GID -u SUDO_COMMAND -u MAIL -u BASH_ENV -u ENV \
    HOME="$home" USER="$user" LOGNAME="$user" SHELL=/bin/sh PATH="$path" \
    setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups -- sh -c 'exec "$@"' sh "$@"
}

make_user() {
  local command
  for command in useradd userdel setpriv tar; do
    command -v "$command" > /dev/null || { why="there is no $command here"; return 1; }
  done
  user=vespe$$
  useradd --create-home --shell /bin/sh "$user" > /dev/null 2>&1 || { user='' why="useradd makes no user"; return 1; }
  home=$(getent passwd "$user" | cut -d: -f6)
  [ -d "$home" ] || { why="the user that useradd made has no home"; return 1; }
  make_path
  as_user sh -c 'cd && touch .profile' 2> /dev/null || { why="no command can be run as another user"; return 1; }
  furnish "$home"
}

# What root alone can look into is no use to the user.
make_path() {
  local directory found=''
  path=/usr/bin:/bin
  while IFS= read -r -d : directory; do
    if [ -n "$directory" ] && as_user test -x "$directory" 2> /dev/null; then
      found=${found:+$found:}$directory
    fi
  done <<< "$PATH:"
  path=${found:-$path}
}

# Nothing in such a home may change what a check says.
furnish() {
  mkdir -p "$1/.ssh" "$1/.aws" "$1/.config/gh" "$1/.config/pip" "$1/.cache/fontconfig" "$1/.local/share"
  printf '[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = trunk\n[core]\n\teditor = vim\n[alias]\n\tst = status -sb\n' > "$1/.gitconfig"
  printf 'this is where a private key would be\n' > "$1/.ssh/id_ed25519"
  printf 'Host *\n  AddKeysToAgent yes\n' > "$1/.ssh/config"
  printf '[default]\naws_access_key_id = example\naws_secret_access_key = example\n' > "$1/.aws/credentials"
  printf 'example.org:\n  oauth_token: example\n' > "$1/.config/gh/hosts.yml"
  printf 'alias ll="ls -l"\nexport EDITOR=vim\n' > "$1/.bashrc"
  printf 'set number\n' > "$1/.vimrc"
  # how packages are had is root's to say, for the user too
  [ ! -r "$HOME/.config/pip/pip.conf" ] || cp "$HOME/.config/pip/pip.conf" "$1/.config/pip/"
  [ ! -r "$HOME/.pip/pip.conf" ] || { mkdir -p "$1/.pip" && cp "$HOME/.pip/pip.conf" "$1/.pip/"; }
  [ ! -r "$HOME/.npmrc" ] || cp "$HOME/.npmrc" "$1/"
  if [ -n "${PIP_CONFIG_FILE:-}" ] && [ -r "$PIP_CONFIG_FILE" ] && [ -f "$PIP_CONFIG_FILE" ]; then
    cp "$PIP_CONFIG_FILE" "$1/.config/pip/of-root.conf"
    export PIP_CONFIG_FILE="$1/.config/pip/of-root.conf"
  fi
  chown -R "$user:" "$1"
  chmod -R go-rwx "$1/.ssh" "$1/.aws" "$1/.config"
}

# Whether the user can run this Python, and it is new enough and has what an environment is made with.
serves() {
  as_user "$1" -I -c 'import ctypes, pip, sqlite3, ssl, sys, venv; sys.exit(sys.version_info < (3, 11))' > /dev/null 2>&1
}

# Find a Python for the user: root's own, a copy of it where it lies in root's home, else one of the system's.
find_python() {
  local own candidate
  own=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
  if serves "$own"; then
    python=$own
  elif copy_python "$own" && serves "$home/.pyenv/bin/${own##*/}"; then
    python=$home/.pyenv/bin/${own##*/}
  else
    rm -rf "$home/.pyenv"
    for candidate in /usr/bin/python3 /usr/local/bin/python3; do
      if [ -z "$python" ] && serves "$candidate"; then python=$candidate; fi
    done
  fi
  [ -n "$python" ] || { why="there is no Python with pip that another user can run"; return 1; }
  path=$(dirname "$python"):$path
}

# Copy a Python without its tests and the packages that were installed into it. Where it finds its own library by an absolute path,
# the copy finds it beside itself.
copy_python() {
  local base
  base=$(python3 -c 'import sys; print(sys.base_prefix)')
  case $base in / | /usr | /usr/local | '') return 1 ;; esac
  mkdir -p "$home/.pyenv"
  tar -C "$base" --exclude='lib/python3*/test' --exclude='lib/python3*/config-*' --exclude='*.a' --exclude='lib/python3*/site-packages/*' -cf - bin include lib |
    tar -C "$home/.pyenv" -xf - || return 1
  (cd "$base" && tar -cf - lib/python3*/site-packages/pip lib/python3*/site-packages/pip-*) | tar -C "$home/.pyenv" -xf - || return 1
  "$1" -I - "$base/lib" "$home/.pyenv" << 'PROGRAM' || return 1
import glob, os, sys
old, new = os.fsencode(sys.argv[1]) + b"\0", b"$ORIGIN/../lib\0"
for path in glob.glob(sys.argv[2] + "/bin/python3.*") + glob.glob(sys.argv[2] + "/lib/libpython3*.so*"):
    if os.path.islink(path) or len(new) > len(old):
        continue
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"\x7fELF") and old in data:
        with open(path, "wb") as file:
            file.write(data.replace(old, new.ljust(len(old), b"\0")))
PROGRAM
  chown -R "$user:" "$home/.pyenv"
}

# Whether packages can be had as this user, by the configuration that root has.
can_install() {
  as_user sh -c 'cd && "$0" -m venv --without-pip .try && "$0" -m pip --python .try/bin/python -q install packaging && rm -rf .try' "$python" > /dev/null 2>&1 ||
    { why="pip installs nothing for another user"; return 1; }
}

# Copy what is in the checkout, and its history, but not what was made in it.
copy_checkout() {
  checkout=$home/vespe
  if git -c safe.directory='*' rev-parse --git-dir > /dev/null 2>&1 && git -c safe.directory='*' clone -q --no-hardlinks --no-checkout . "$checkout" 2> /dev/null; then
    git -c safe.directory='*' ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
      if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
    done | tar --null -T - -cf - | tar -C "$checkout" -xf - || { why="the checkout cannot be copied"; return 1; }
    git -c safe.directory='*' -C "$checkout" reset -q
  else
    rm -rf "$checkout"
    mkdir -p "$checkout"
    tar --exclude=./.venv --exclude=./build --exclude=./dist -cf - . | tar -C "$checkout" -xf - || { why="the checkout cannot be copied"; return 1; }
  fi
  chown -R "$user:" "$checkout"
  # the corpus that some tests look for beside the checkout
  if [ -d ../shared ]; then
    if as_user test -r "$PWD/../shared/corpus"; then ln -s "$PWD/../shared" "$home/shared"; else cp -r ../shared "$home/shared" && chown -R "$user:" "$home/shared"; fi
  fi
}

remove_user() {
  if [ -n "$user" ]; then
    userdel --force --remove "$user" > /dev/null 2>&1 || echo ".ci/run: the user $user could not be removed" >&2
    user=''
  fi
}
