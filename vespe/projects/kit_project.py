"""A project of one kit, for whoever has a kit's directory and no project: a plugin or a bundle of a
client.
"""

import hashlib
import os

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import UsageError
from vespe.files import locations
from vespe.kits import archives
from vespe.projects import project
from vespe.projects.init import found_project


def project_of_kit(directory: str) -> str:
    """Return the root of a project, in the user's state, whose one active kit is the one in
    `directory`, which comes before all others.

    The kit is trusted as one that the user put among their kits: whoever starts this names it.
    VESPE_KITS_PATH of this process is changed. Raises NotFound, InvalidDocument, UsageError where
    the directory does not have the kit's id as its name, StorageError.
    """
    place = archives.kit_directory(os.path.join(directory, ""))
    kit_id = str(
        strict_json.read_object(os.path.join(place, defaults.KIT_CONFIG_FILE)).get("kit_id")
    )
    parent, name = os.path.split(place)
    if name != kit_id:
        raise UsageError(
            f"the directory of the kit {kit_id} is called {name}", hint=f"call it {kit_id}"
        )
    before = os.environ.get(defaults.ENV_KITS_PATH)
    os.environ[defaults.ENV_KITS_PATH] = os.pathsep.join(filter(None, (parent, before)))
    key = hashlib.sha256(os.fsencode(place)).hexdigest()[:16]
    root = os.path.join(locations.user_state_dir(), "kit-projects", key)
    found_project(root)
    project.set_active(root, [kit_id])
    return root
