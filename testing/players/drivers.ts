import { fileURLToPath } from 'node:url'

/** A program in `python/` that plays through the clients of one protocol: it answers each line of JSON with another. */
export type Driver = 'episodic_env' | 'nemo_gym' | 'openenv' | 'ors'

/** Returns the file of a driver, which runs in the Python environment of its client. */
export function driverOf(name: Driver): string {
  return fileURLToPath(new URL(`./python/${name}_client.py`, import.meta.url))
}
