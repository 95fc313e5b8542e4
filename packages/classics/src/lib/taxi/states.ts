import type { JsonObject } from '@episodic/protocol'
import { SIZE, STOP_NAMES } from './grid.ts'

/** Lists the public states in Gymnasium's order: by row, column, passenger (in the taxi last) and destination. */
export function states({ rainy = false }: JsonObject): JsonObject[] {
  const listed: JsonObject[] = []
  for (let row = 0; row < SIZE; row++)
    for (let column = 0; column < SIZE; column++)
      for (const passenger of [...STOP_NAMES, 'taxi'])
        for (const destination of STOP_NAMES) listed.push({ row, column, passenger, destination, rainy })
  return listed
}
