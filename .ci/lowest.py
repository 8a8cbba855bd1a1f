"""Print the lowest declared versions as constraints, for a run of the quick tests on them."""

import pathlib
import re
import sys
import tomllib

project = tomllib.loads(pathlib.Path("pyproject.toml").read_text("utf-8"))["project"]
wanted = list(project["dependencies"])
for extra in sys.argv[1:]:
    wanted += project["optional-dependencies"][extra]
for requirement in wanted:
    found = re.fullmatch(r"([A-Za-z0-9._-]+)>=([0-9.]+)", requirement)
    if found is None:
        sys.exit(f"{requirement} declares no lowest version")
    print(f"{found[1]}=={found[2]}")
