import { z } from 'zod'
import { readGolden } from '../suite/golden.ts'
import type { Domain } from './domain.ts'
import { openOriginals } from './originals.ts'
import { readTasks } from './task-file.ts'
import { createTau2World } from './tau2-world.ts'

const splitsSchema = z.record(z.string(), z.array(z.string()))

/**
 * Opens a domain of τ² in which the agent alone has tools, over a folder with files of the original.
 *
 * - `golden`: what the original recorded of golden actions.
 * - `create`: makes the rules over the text of `db.json`.
 */
export function openAgentDomain<State>(
  name: string,
  { folder, golden, create }: { folder: string; golden: URL; create: (db: string) => Domain<State> },
) {
  const originals = openOriginals(folder)
  const read = (file: string) => originals.data(`domains/${name}/${file}`)
  return createTau2World({
    domain: create(read('db.json')),
    originals,
    tasks: readTasks(read('tasks.json')),
    splits: splitsSchema.parse(JSON.parse(read('split_tasks.json'))),
    policy: read('policy.md'),
    functions: originals.functions(`domains/${name}/tools.py`),
    golden: readGolden(golden),
  })
}
