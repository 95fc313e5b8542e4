import type { JsonObject } from '@episodic/protocol'

// Modules take no arguments, and a world may have another copy of this package than the command that loads it: so what
// is given back while a module is loaded is kept by the process, under a name that all copies know.
const KEPT = Symbol.for('episodic.madeOf')

type Kept = { [KEPT]?: Map<string, JsonObject> }

/**
 * Runs `load`, and gives what an environment was made of, as a run has kept it, to the definitions of that name that
 * are made meanwhile. For worlds that are loaded to replay: who plays asks what is outside itself.
 */
export async function loadToReplay<T>(
  environment: string,
  madeOf: JsonObject | null,
  load: () => Promise<T>,
): Promise<T> {
  if (!madeOf) return load()
  const process = globalThis as Kept
  process[KEPT] ??= new Map()
  const kept = process[KEPT]
  kept.set(environment, madeOf)
  try {
    return await load()
  } finally {
    kept.delete(environment)
  }
}

/** Returns what an environment of that name was made of when the run was played; `null` if no run is replayed. */
export function findMadeOf(environment: string): JsonObject | null {
  return (globalThis as Kept)[KEPT]?.get(environment) ?? null
}
