import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'
import { dataFolder } from '../suite/data-folder.ts'
import { readGolden } from '../suite/golden.ts'
import { createDojo } from './agentdojo-world.ts'
import type { DojoSuite } from './suite.ts'

/** Returns an environment of AgentDojo over the data that was got, with what the original recorded. */
export function openDojo<Env>(suite: DojoSuite<Env>) {
  const recorded = readGolden(
    new URL('golden/agentdojo.jsonl', pathToFileURL(findPackageJSON(import.meta.url) as string)),
  )
  return createDojo(suite, { data: dataFolder('agentdojo'), recorded })
}
