import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MapName } from './maps.ts'

/** Gymnasium's transition table of a lake: `P[state][action]` lists the outcomes in its order. */
export interface GymnasiumLake {
  readonly map: MapName
  readonly slippery: boolean
  readonly P: readonly (readonly (readonly [
    probability: number,
    state: number,
    reward: number,
    terminated: boolean,
  ][])[])[]
}

/** Printed by Gymnasium 1.4.0; the README has the program. */
export const gymnasiumLakes = readFileSync(join(import.meta.dirname, 'gymnasium.fixture.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as GymnasiumLake)
