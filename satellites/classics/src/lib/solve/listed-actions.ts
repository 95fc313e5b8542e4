import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import type { Action, Json, JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'

/**
 * Lists the legal actions of a seat in a state, in the order of `legal`, or of the tools and their enumerated
 * arguments. Throws `option-invalid` for a tool whose legal arguments are not enumerated.
 */
export function listActions(
  environment: EnvironmentDefinition,
  state: SessionState,
  params: JsonObject,
  seat = environment.seats[0] as string,
): Action[] {
  return Object.entries(environment.legal(state, params, seat)).flatMap(([tool, schema]) => {
    const listed = listValues(schema)
    if (!listed)
      throw new ServerError(
        'option-invalid',
        `The legal arguments of ${tool} of ${environment.name} are not enumerated. List them in \`legal\`, or use z.enum.`,
      )
    return listed.map((args) => ({ tool, arguments: args as JsonObject }))
  })
}

/** Lists the values of a JSON Schema; `null` if it does not enumerate them. */
function listValues(schema: JsonObject): Json[] | null {
  if (Array.isArray(schema.enum)) return schema.enum
  if ('const' in schema) return [schema.const as Json]
  if (schema.type === 'boolean') return [false, true]
  if (schema.type !== 'object') return null
  let objects: JsonObject[] = [{}]
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, JsonObject>)) {
    const values = listValues(property)
    if (!values) return null
    objects = objects.flatMap((object) => values.map((value) => ({ ...object, [name]: value })))
  }
  return objects
}
