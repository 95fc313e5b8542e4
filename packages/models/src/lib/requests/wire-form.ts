import type { Json, JsonObject, ToolInfo } from '@episodic/protocol'
import { isObject, wellFormed } from '@episodic/protocol/internal'
import { lastTokens, withoutTokens } from '../messages/handed-tokens.ts'
import { withoutMediaData } from '../messages/media-parts.ts'

/** The names of tools that each API takes. MCP allows dots in them, and 128 letters. */
const NAMES = { chat: /^[\w-]{1,64}$/, anthropic: /^[\w-]{1,128}$/, google: /^[a-zA-Z_][\w.:-]{0,63}$/ } as const

export type WireForm = ReturnType<typeof wireFormOf>

/**
 * Returns the tools that a model is offered, and the messages about them, as the requests of an API have them. Names
 * that it refuses are replaced one to one, on the wire alone: a call is read as one of the world's tool. A name that is
 * no tool's stays as it came.
 *
 * @param wires - the names that were replaced, to which these are added: earlier calls may be of tools that are gone.
 */
export function wireFormOf(every: readonly ToolInfo[], api: keyof typeof NAMES, wires = new Map<string, string>()) {
  const tools = every.filter(({ speech }) => speech === undefined)
  const taken = new Set(tools.map(({ name }) => name))
  for (const { name } of tools.filter(({ name }) => !NAMES[api].test(name))) {
    const plain = plainName(name).slice(0, 56)
    let wire = wires.get(name) ?? plain
    for (let i = 2; taken.has(wire); i++) wire = `${plain}_${i}`
    taken.add(wire)
    wires.set(name, wire)
  }
  const wireOf = (name: string) => wires.get(name) ?? (NAMES[api].test(name) ? name : plainName(name).slice(0, 56))
  // Gemini and others refuse a schema that says which version of JSON Schema it is.
  const functionOf = ({ name, description, inputSchema: { $schema: _, ...schema } }: ToolInfo): JsonObject =>
    wellFormed({ name: wireOf(name), description, parameters: plainSchema({ ...schema, type: 'object' }) })
  function withWireNames(message: JsonObject): JsonObject {
    if (!message.tool_calls) return message
    const made = message.tool_calls as unknown as readonly { readonly function: { readonly name: string } }[]
    const calls = made.map((call) => ({ ...call, function: { ...call.function, name: wireOf(call.function.name) } }))
    return { ...message, tool_calls: calls }
  }
  /** A conversation is sent again with each request, so each of its messages is prepared once. */
  const known = new WeakMap<JsonObject, ReturnType<typeof prepare>>()
  function prepare(message: JsonObject) {
    // Observations may come from a server outside, with half of a surrogate pair in them.
    const whole = withWireNames(wellFormed(message))
    const plain = withoutTokens(whole)
    const prepared = { whole, plain, recorded: withoutMediaData(plain) }
    known.set(message, prepared)
    return prepared
  }
  return {
    functions: tools.map((tool) => ({ type: 'function', function: functionOf(tool) })),
    wireOf,
    nameOf: (wire: string) => tools.find(({ name }) => wireOf(name) === wire)?.name ?? wire,
    /** Returns messages as they are sent: with the last tokens among them, and without; and as they are recorded. */
    prepare(messages: readonly JsonObject[]) {
      const all = messages.map((message) => known.get(message) ?? prepare(message))
      return {
        handed: () => lastTokens(all.map(({ whole }) => whole)),
        plain: all.map(({ plain }) => plain),
        recorded: all.map(({ recorded }) => recorded),
      }
    },
  }
}

const plainName = (name: string) => name.replace(/[^\w-]/g, '_').replace(/^(?![a-zA-Z_])/, '_')

/** Members of a schema that are no schemas, and those whose own members have names that are no keywords. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required'])
const MAPS = /^(?:properties|\$defs|definitions|patternProperties|dependentSchemas)$/

/**
 * Returns a schema of the same meaning in the form that all providers take: an object has `properties`, a list `items`,
 * and an empty schema is where anything is right.
 */
function plainSchema(schema: Json, isMap = false): Json {
  if (Array.isArray(schema)) return schema.map((item) => plainSchema(item))
  if (!isObject(schema)) return schema
  const entries = Object.entries(schema as JsonObject).map(([key, value]): [string, Json] => {
    if (!isMap && VALUES.has(key)) return [key, value]
    return [key, value === true && (isMap || key === 'items') ? {} : plainSchema(value, !isMap && MAPS.test(key))]
  })
  const plain: Record<string, Json> = Object.fromEntries(entries)
  if (isMap) return plain
  const types = [plain.type].flat()
  if (types.includes('object')) plain.properties ??= {}
  if (types.includes('array') && !('prefixItems' in plain)) plain.items ??= {}
  return plain
}
