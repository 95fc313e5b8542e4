import { z } from 'zod'
import type { DocumentedFunction } from '../python/docstrings.ts'
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
  const functions = originals.functions(`domains/${name}/tools.py`)
  const domain = create(read('db.json'))
  const fieldsOf = (model: string) => originals.fields(`domains/${name}/data_model.py`, model)
  return createTau2World({
    domain: { ...domain, tools: withFields(domain.tools, functions, fieldsOf) },
    originals,
    tasks: readTasks(read('tasks.json')),
    splits: splitsSchema.parse(JSON.parse(read('split_tasks.json'))),
    policy: read('policy.md'),
    functions,
    golden: readGolden(golden),
  })
}

/** Adds what the original says of the fields of objects in lists, by their types: `flights: List[FlightInfo | dict]`. */
function withFields<State>(
  tools: Domain<State>['tools'],
  functions: ReadonlyMap<string, DocumentedFunction>,
  fieldsOf: (model: string) => ReadonlyMap<string, string>,
): Domain<State>['tools'] {
  const described = Object.entries(tools).map(([tool, { input, ...rest }]) => {
    const shape = { ...(input.shape as Record<string, z.ZodType>) }
    for (const { name, type } of functions.get(tool)?.parameters ?? []) {
      const [, model] = /^List\[(\w+) \|/.exec(type ?? '') ?? []
      const list = shape[name]
      if (!model || !(list instanceof z.ZodArray) || !(list.element instanceof z.ZodObject)) continue
      const fields = fieldsOf(model)
      const items = Object.entries(list.element.shape as Record<string, z.ZodType>).map(([field, schema]) => {
        const text = fields.get(field)
        return [field, text ? schema.describe(text) : schema] as const
      })
      shape[name] = z.array(z.object(Object.fromEntries(items)))
    }
    return [tool, { ...rest, input: z.strictObject(shape) }] as const
  })
  return Object.fromEntries(described)
}
