import type { Json, JsonObject } from '@episodic/protocol'
import { COLUMNS, ROWS } from './grid.ts'

/** Lists the public states by position. */
export function states({ slippery = false }: JsonObject): JsonObject[] {
  return Array.from({ length: ROWS * COLUMNS }, (_, position) => ({ position, slippery, falls: 0 }))
}

/** Returns what decides where a walk goes on. */
export function keyOf({ position = null }: JsonObject): Json {
  return position
}
