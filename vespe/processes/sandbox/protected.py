"""Protected places: keys, tokens, browser profiles, and Vespe's own state, which no tool reads
unless it names them.
"""

import contextlib
import functools
import itertools
import os
import pwd
from collections.abc import Iterator
from typing import Final

from vespe.processes.sandbox import looked

HOME: Final = (
    # Keys, and who they open doors to.
    ".ssh",
    ".gnupg",
    ".pki",
    ".age",
    ".config/age",
    ".config/sops",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/op",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/keepassxc",
    ".vault-token",
    ".step",
    ".minisign",
    # Clouds and their tools.
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/linode-cli",
    ".config/rclone",
    ".oci",
    ".kube",
    ".docker",
    ".config/containers/auth.json",
    ".boto",
    ".s3cfg",
    ".config/s3cmd",
    ".terraform.d",
    ".terraformrc",
    ".pulumi",
    ".fly",
    ".netlify",
    ".config/netlify",
    ".config/heroku",
    ".config/vercel",
    ".config/wrangler",
    ".wrangler",
    ".config/stripe",
    ".databrickscfg",
    ".config/snowflake",
    ".snowflake",
    ".ansible/vault",
    ".config/helm/registry",
    # Forges, package indexes, and the web.
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/tea",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pypoetry/auth.toml",
    ".config/uv/credentials",
    ".local/share/uv/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".bundle/config",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".config/anthropic",
    ".config/openai",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".config/github-copilot",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".huggingface",
    ".kaggle",
    ".wandb",
    ".config/wandb",
    # Browsers, mail, talk, money.
    ".mozilla",
    ".config/mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".librewolf",
    ".thunderbird",
    ".var/app",
    "snap/firefox",
    "snap/chromium",
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
    ".config/Element",
    ".local/share/TelegramDesktop",
    ".bitcoin",
    ".electrum",
    ".ethereum",
    ".config/solana",
    ".monero",
    # What was typed, and the session on the screen.
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".histfile",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".local/share/fish",
    ".lesshst",
    ".Xauthority",
    ".ICEauthority",
    # macOS.
    "Library/Keychains",
    "Library/Cookies",
    "Library/Messages",
    "Library/Mail",
    "Library/Safari",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Microsoft Edge",
    "Library/Application Support/com.apple.TCC",
    "Library/Group Containers",
)
"""Beneath each home directory: of HOME, and of the user's own entry."""
MACHINE: Final = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssl/private",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/krb5.keytab",
    "/run/secrets",
    "/run/user",
    "/run/credentials",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/spool/cron",
    "/private/etc/master.passwd",
)
SOCKETS: Final = (
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/dbus",
    "/run/user",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/snapd-snap.socket",
    "/run/lxd.socket",
    "/run/libvirt",
    "/run/postgresql",
    "/run/mysqld",
    "/run/rpcbind.sock",
    "/run/avahi-daemon",
    "/run/screen",
    "/run/tmux",
    "/tmp/.X11-unix",
    "/tmp/.ICE-unix",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
)
"""Unix sockets behind which somebody with other rights listens, and directories of them."""


def homes() -> tuple[str, ...]:
    """Return the user's home directories, as they really are: that of HOME, and that of the user's
    own entry.
    """
    return _homes(os.environ.get("HOME", ""))


@functools.lru_cache(4)
def _homes(named: str) -> tuple[str, ...]:
    found = [named] if os.path.isabs(named) else []
    with contextlib.suppress(KeyError):
        found.append(pwd.getpwuid(os.getuid()).pw_dir)
    return tuple(dict.fromkeys(looked.realpath(path) for path in found if os.path.isabs(path)))


def find_protected(own: tuple[str, ...]) -> tuple[str, ...]:
    """Return every protected place that there is, links followed, sorted; `own` are the directories
    of Vespe's own state.
    """
    there = [path for path in (*own, *MACHINE, *_of_homes()) if looked.lexists(path)]
    return tuple(sorted({*there, *filter(looked.lexists, map(looked.realpath, there))}))


def may_be_protected(path: str) -> bool:
    """Whether a real path is a protected place, or lies in one, whether that is there or not."""
    return any(holds(place, path) for place in (*MACHINE, *_named_in_homes(homes())))


@functools.lru_cache(8)
def closed_places(homes: tuple[str, ...], uid: int) -> frozenset[str]:
    """Return every place that stays closed while a process lives, whether it is there or not: those
    of these homes, and of the machine's those that this user could read if they were made anew.
    """
    # To others than root what lies in /etc is closed by its modes, old or new.
    machine = MACHINE if uid == 0 else [path for path in MACHINE if holds("/run", path)]
    return frozenset((*_named_in_homes(homes), *machine))


def _named_in_homes(homes: tuple[str, ...]) -> Iterator[str]:
    yield from (f"{home}/{name}" for home in homes if home != "/" for name in HOME)


def _of_homes() -> Iterator[str]:
    """Return the places of the home directories that may be there: one list of a home says of most
    that they are not.
    """
    for home in homes():
        if home != "/":
            try:
                listed = {name.casefold() for name in looked.listdir(home)}
            except OSError:
                listed = set(_IN_HOME)
            yield from (
                f"{home}/{name}"
                for first, names in _IN_HOME.items()
                if first in listed
                for name in names
            )


_IN_HOME: Final = {
    first: tuple(names)
    for first, names in itertools.groupby(
        sorted(HOME), key=lambda name: name.partition("/")[0].casefold()
    )
}


def holds(place: str, path: str) -> bool:
    """Whether a path is a place, or lies in it; both are absolute and real."""
    return path == place or path.startswith(place.rstrip("/") + "/")
