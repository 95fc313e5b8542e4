import { ServerError } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'
import { isObject, shorten } from '@episodic/protocol/internal'
import { z } from 'zod'
import { type ListedTool, playersName } from '../servers/other-methods.ts'

/** Which tools of a server a player has. The names are the server's own. */
export interface ToolChoice {
  /** Only these. Default: all. */
  readonly only?: readonly string[]
  /** All but these. */
  readonly hide?: readonly string[]
  readonly rename?: { readonly [tool: string]: string }
  /** Other descriptions for the player. */
  readonly describe?: { readonly [tool: string]: string }
}

export interface ChosenTool {
  readonly theirs: string
  readonly ours: string
  readonly description: string
  readonly input: z.ZodType
  readonly annotations: JsonObject
}

/**
 * Returns the tools of the player. One that cannot be served, or whose name is taken, is left out with a warning: the
 * others can be played. Throws `option-invalid` for a tool that the server does not have, and for a name of the author
 * that cannot be served.
 */
export function chooseTools(environment: string, listed: readonly ListedTool[], choice: ToolChoice): ChosenTool[] {
  const { only, hide = [], rename = {}, describe = {} } = choice
  const names = listed.map(({ name }) => name)
  for (const name of [...(only ?? []), ...hide, ...Object.keys(rename), ...Object.keys(describe)])
    if (!names.includes(name))
      throw new ServerError(
        'option-invalid',
        `${environment} names the tool "${name}", and its server has: ${names.join(', ') || 'none'}.`,
      )
  const taken = new Set(['done'])
  const given = new Set(Object.values(rename))
  const chosen = listed.flatMap(({ name, description, inputSchema, annotations = {} }): ChosenTool[] => {
    if (!(only?.includes(name) ?? true) || hide.includes(name)) return []
    const [ours, input, isRenamed] = [nameIn(choice, name), anyInput(inputSchema), Object.hasOwn(rename, name)]
    const isTaken = taken.has(ours) || (!isRenamed && given.has(ours))
    const why = isTaken ? `there is a tool "${ours}" already` : whyNotServed(ours, input)
    if (why && isRenamed)
      throw new ServerError(
        'option-invalid',
        `${environment} calls the tool "${name}" of its server "${ours}", but ${why}.`,
      )
    if (why)
      process.emitWarning(
        `${environment} leaves out the tool "${shorten(name)}" of its server, because ${why}. Another name is given with tools: { rename: { … } } in a world file.`,
      )
    else taken.add(ours)
    return why ? [] : [{ theirs: name, ours, description: describe[name] ?? description, input, annotations }]
  })
  if (chosen.length === 0)
    process.emitWarning(`${environment} has no tool of its server, so its player can only call done.`)
  return chosen
}

function whyNotServed(name: string, input: z.ZodType): string | null {
  if (!/^[\w.-]{1,128}$/.test(name)) return 'a name has letters, digits, "_", "-" and ".", and at most 128 of them'
  try {
    return z.toJSONSchema(input).type === 'object' ? null : 'its input is no object'
  } catch (cause) {
    return `its schema cannot be read: ${(cause as Error).message}`
  }
}

export function nameIn({ rename = {} }: ToolChoice, tool: string): string {
  return rename[tool] ?? playersName(tool)
}

/** Returns the server's own schema, which takes any arguments: the server refuses them in its own words. */
function anyInput(inputSchema: JsonObject): z.ZodType {
  const input = z.looseObject({})
  // The `id` of draft 4 would make the library look for the schema elsewhere.
  const { id: _, $schema = '', ...schema } = JSON.parse(JSON.stringify(inputSchema), inDraftOfMcp)
  const version = $schema && !/draft-0[34]/.test($schema) && { $schema }
  input._zod.toJSONSchema = () => ({ ...version, ...structuredClone(schema), type: 'object' })
  return input
}

/** Says what drafts 3 and 4 say in words of their own as draft 2020-12 does, which MCP asks for and providers take. */
function inDraftOfMcp(_: string, value: unknown): unknown {
  if (!isObject(value)) return value
  const schema: Record<string, Json> = value
  for (const bound of ['Minimum', 'Maximum']) {
    const [open, closed] = [`exclusive${bound}`, bound.toLowerCase()]
    if (typeof schema[open] !== 'boolean') continue
    const isOpen = schema[open] && closed in schema
    if (isOpen) schema[open] = schema[closed] as Json
    delete schema[isOpen ? closed : open]
  }
  if (schema.type === 'any') delete schema.type
  for (const [name, field] of Object.entries(Object(schema.properties)))
    if (isObject(field) && typeof field.required === 'boolean') {
      if (field.required) schema.required = [...[schema.required ?? []].flat(), name]
      delete (field as Record<string, Json>).required
    }
  return schema
}
