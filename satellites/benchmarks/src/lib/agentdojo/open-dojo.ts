import { dataFolder } from '../suite/data-folder.ts'
import { goldenFile, readGolden } from '../suite/golden.ts'
import { createDojo } from './agentdojo-world.ts'
import type { DojoSuite } from './suite.ts'

/** Returns an environment of AgentDojo over the data that was got, with what the original recorded. */
export function openDojo<Env>(suite: DojoSuite<Env>) {
  return createDojo(suite, { data: dataFolder('agentdojo'), recorded: readGolden(goldenFile('agentdojo')) })
}
