import { dataFolder } from '../suite/data-folder.ts'
import { goldenFile, readGolden } from '../suite/golden.ts'
import { createDojo } from './agentdojo-world.ts'
import type { DojoSuite } from './suite.ts'

export function openDojo<Env>(suite: DojoSuite<Env>) {
  return createDojo(suite, { data: dataFolder('agentdojo'), recorded: readGolden(goldenFile('agentdojo')) })
}
