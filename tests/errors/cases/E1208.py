import json
from pathlib import Path

from atoll.distribute.on_zarr import _begin

folder = Path("y.zarr.progress")
folder.mkdir(exist_ok=True)
(folder / "what.json").write_text(json.dumps({"key": "that of another program", "result": "y.zarr"}))
_begin(folder, "that of this one", Path("y.zarr"), [])

#> E1208: y.zarr.progress holds the beginning of another computation: the program, its arguments or the memory differ
#>    help: give another out=, or delete the file to begin anew
