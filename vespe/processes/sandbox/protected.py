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
    ".config/Bitwarden CLI",
    ".config/keepassxc",
    ".vault-token",
    ".step",
    ".minisign",
    ".tsh",
    ".config/doppler",
    ".doppler",
    ".infisical",
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
    ".config/pulumi",
    ".fly",
    ".netlify",
    ".config/netlify",
    ".config/heroku",
    ".config/vercel",
    ".config/wrangler",
    ".config/.wrangler",
    ".wrangler",
    ".config/stripe",
    ".databrickscfg",
    ".config/snowflake",
    ".snowflake",
    ".aliyun",
    ".bluemix",
    ".config/argocd",
    ".minikube",
    ".config/firebase",
    ".config/configstore/firebase-tools.json",
    ".ansible/vault",
    ".config/helm/registry",
    # Forges, package indexes, and the web.
    ".netrc",
    ".netrc.gpg",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/tea",
    ".circleci",
    ".sentryclirc",
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
    ".cursor/mcp.json",
    ".continue",
    ".local/share/opencode/auth.json",
    ".config/io.datasette.llm",
    ".ollama/id_ed25519",
    ".config/github-copilot",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".huggingface",
    ".kaggle",
    ".wandb",
    ".config/wandb",
    # Browsers, mail, talk, money, other machines.
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
    ".msmtprc",
    ".config/msmtp",
    ".mbsyncrc",
    ".config/isyncrc",
    ".fetchmailrc",
    ".muttrc",
    ".mutt",
    ".config/mutt",
    ".config/neomutt",
    ".var/app",
    "snap/firefox",
    "snap/chromium",
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
    ".config/Element",
    ".irssi",
    ".weechat",
    ".config/weechat",
    ".znc",
    ".local/share/TelegramDesktop",
    ".bitcoin",
    ".electrum",
    ".ethereum",
    ".config/solana",
    ".monero",
    ".smbcredentials",
    ".davfs2/secrets",
    ".vnc",
    ".config/filezilla",
    ".config/remmina",
    ".local/share/remmina",
    ".config/rustdesk",
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
    ".config/nushell/history.txt",
    ".local/share/nushell",
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
NAMED: Final = {
    "AWS_CONFIG_FILE": ("",),
    "AWS_SHARED_CREDENTIALS_FILE": ("",),
    "AWS_WEB_IDENTITY_TOKEN_FILE": ("",),
    "AZURE_CONFIG_DIR": ("",),
    "BOTO_CONFIG": ("",),
    "CARGO_HOME": ("credentials", "credentials.toml"),
    "CLAUDE_CONFIG_DIR": ("",),
    "CLOUDSDK_CONFIG": ("",),
    "CODEX_HOME": ("",),
    "DOCKER_CONFIG": ("",),
    "GH_CONFIG_DIR": ("",),
    "GNUPGHOME": ("",),
    "GOOGLE_APPLICATION_CREDENTIALS": ("",),
    "HF_HOME": ("token", "stored_tokens"),
    "HF_TOKEN_PATH": ("",),
    "HISTFILE": ("",),
    "KAGGLE_CONFIG_DIR": ("",),
    "KUBECONFIG": ("",),
    "NETRC": ("",),
    "NPM_CONFIG_USERCONFIG": ("",),
    "PASSWORD_STORE_DIR": ("",),
    "PGPASSFILE": ("",),
    "PULUMI_HOME": ("",),
    "RCLONE_CONFIG": ("",),
    "SOPS_AGE_KEY_FILE": ("",),
    "WANDB_CONFIG_DIR": ("",),
    "XAUTHORITY": ("",),
    "npm_config_userconfig": ("",),
    **{
        variable: tuple(name.removeprefix(base) for name in HOME if name.startswith(base))
        for variable, base in (
            ("XDG_CACHE_HOME", ".cache/"),
            ("XDG_CONFIG_HOME", ".config/"),
            ("XDG_DATA_HOME", ".local/share/"),
        )
    },
}
"""Variables that name a protected place elsewhere, with what is protected beneath it."""
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


def named_places() -> tuple[str, ...]:
    """Return the protected places that variables of the environment name, links followed, whether
    they are there or not.
    """
    found = []
    for variable, names in NAMED.items():
        for path in os.environ.get(variable, "").split(os.pathsep):
            if os.path.isabs(path):
                real = looked.realpath(path)
                found += [os.path.join(real, name) if name else real for name in names]
    return tuple(path for path in dict.fromkeys(found) if _can_be_closed(path))


def _can_be_closed(path: str) -> bool:
    """Whether a place can be closed and programs still run: HISTFILE may be `/dev/null`."""
    return (
        path.count("/") > 1
        and not any(holds(system, path) for system in ("/dev", "/proc", "/sys"))
        and not any(holds(path, home) for home in homes())
    )


def find_protected(own: tuple[str, ...]) -> tuple[str, ...]:
    """Return every protected place that there is, links followed, sorted; `own` are the directories
    of Vespe's own state.
    """
    there = [
        path for path in (*own, *MACHINE, *_of_homes(), *named_places()) if looked.lexists(path)
    ]
    return tuple(sorted({*there, *filter(looked.lexists, map(looked.realpath, there))}))


def may_be_protected(path: str) -> bool:
    """Whether a real path is a protected place, or lies in one, whether that is there or not."""
    closed = (*MACHINE, *_named_in_homes(homes()), *named_places())
    return any(holds(place, path) for place in closed)


@functools.lru_cache(8)
def closed_places(homes: tuple[str, ...], named: tuple[str, ...], uid: int) -> frozenset[str]:
    """Return every place that stays closed while a process lives, whether it is there or not: those
    of these homes, those that the environment names, and of the machine's those that this user
    could read if they were made anew.
    """
    # To others than root what lies in /etc is closed by its modes, old or new.
    machine = MACHINE if uid == 0 else [path for path in MACHINE if holds("/run", path)]
    return frozenset((*_named_in_homes(homes), *named, *machine))


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
