import type { WorldName } from '../hyperparameters.ts'
import { frozenLake } from './frozen-lake.ts'
import { kuhnPoker } from './kuhn-poker.ts'
import { taxi } from './taxi.ts'
import type { World } from './world.ts'

export const WORLDS: Readonly<Record<WorldName, World>> = {
  'frozen-lake': frozenLake,
  taxi,
  'kuhn-poker': kuhnPoker,
}
