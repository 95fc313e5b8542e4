"""Serves worlds of Episodic to NeMo Gym, as long as gym runs."""

import os
import signal

from episodic_env import serve
from nemo_gym.global_config import get_global_config_dict

config = get_global_config_dict()[os.environ["NEMO_GYM_CONFIG_PATH"]].resources_servers.episodic
# gym ends its servers with SIGINT. What serve has started ends with this process, however that ends.
signal.signal(signal.SIGINT, signal.SIG_DFL)
with serve(*config.worlds, options=["--nemo-gym-port", str(config.port), *config.get("options", [])]):
    signal.pause()
