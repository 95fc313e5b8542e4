import type { JsonObject } from '@episodic/protocol'
import { MAPS, type MapName, tilesOf } from './maps.ts'

/** Lists the public states of a lake by position. */
export function states(params: JsonObject): JsonObject[] {
  const map = params.map as MapName
  return [...tilesOf(map).keys()].map((position) => ({
    map: [...MAPS[map]],
    slippery: params.slippery as boolean,
    position,
  }))
}
