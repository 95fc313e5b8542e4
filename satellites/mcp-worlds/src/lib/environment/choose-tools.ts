import { ServerError } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import { type ListedTool, playersName } from '../servers/other-methods.ts'

/** Which tools of a server a player has. The names are the server's own. */
export interface ToolChoice {
  /** Only these. Default: all. */
  readonly only?: readonly string[]
  /** All but these. */
  readonly hide?: readonly string[]
  /** Other names for the player. */
  readonly rename?: { readonly [tool: string]: string }
  /** Other descriptions for the player. */
  readonly describe?: { readonly [tool: string]: string }
}

/** A tool of the player. */
export interface ChosenTool {
  /** The server's name for it. */
  readonly theirs: string
  /** The player's name for it. */
  readonly ours: string
  readonly description: string
  readonly input: z.ZodType
  readonly annotations: JsonObject
}

/** Returns the tools of the player. Throws `option-invalid` for a tool that the server does not have. */
export function chooseTools(environment: string, listed: readonly ListedTool[], choice: ToolChoice): ChosenTool[] {
  const { only, hide = [], rename = {}, describe = {} } = choice
  const names = listed.map(({ name }) => name)
  for (const name of [...(only ?? []), ...hide, ...Object.keys(rename), ...Object.keys(describe)])
    if (!names.includes(name))
      throw new ServerError(
        'option-invalid',
        `${environment} names the tool "${name}", and its server has: ${names.join(', ') || 'none'}.`,
      )
  const chosen = listed
    .filter(({ name }) => (only?.includes(name) ?? true) && !hide.includes(name))
    .map(({ name, description, inputSchema, annotations = {} }) => ({
      theirs: name,
      ours: nameIn(choice, name),
      description: describe[name] ?? description,
      input: anyInput(inputSchema),
      annotations,
    }))
  const twice = [...chosen.map(({ ours }) => ours), 'done'].find((name, i, all) => all.indexOf(name) !== i)
  if (twice !== undefined)
    throw new ServerError(
      'option-invalid',
      `${environment} has two tools of the name "${twice}"${twice === 'done' ? ', which ends the episode' : ''}. Give the server's another name: tools: { rename: { … } }.`,
    )
  return chosen
}

/** Returns the player's name for a tool. */
export function nameIn({ rename = {} }: ToolChoice, tool: string): string {
  return rename[tool] ?? playersName(tool)
}

/**
 * Returns a schema that is written as the server wrote it, and takes any arguments: what does not fit is for the server
 * to refuse, in its own words.
 */
function anyInput(inputSchema: JsonObject): z.ZodType {
  const input = z.looseObject({})
  input._zod.toJSONSchema = () => ({ ...structuredClone(inputSchema), type: 'object' })
  return input
}
