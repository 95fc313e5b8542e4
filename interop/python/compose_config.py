"""Stands in for the command of Docker where it is not installed: `docker compose config`, as `harbor lint` asks for it.

It reads the Compose file and replaces the variables with a default. Nothing else of Compose is done here.
"""

import json
import re
import sys
from pathlib import Path

import yaml

text = Path(sys.argv[sys.argv.index("-f") + 1]).read_text()
json.dump(yaml.safe_load(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)), sys.stdout)
