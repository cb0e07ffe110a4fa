"""What kind of source somebody imports, found by looking at it; and the import of each kind."""

from typing import Final

from vespe.kits.imports.made import Fetch, Imported, Selection

KINDS: Final = ("openapi",)


def import_from(
    source: str, *, kit_id: str, kind: str | None, selection: Selection, fetch: Fetch | None = None, follow: bool = False
) -> Imported:
    """Read `source`, a path or an address, as its kind of import does; the kind is found by looking where none is said.

    Raises UsageError, InvalidDocument, StorageError, and what `fetch` raises.
    """
    from vespe.kits.imports.openapi import importing

    return importing.import_openapi(source, kit_id=kit_id, selection=selection, fetch=fetch, follow=follow)
