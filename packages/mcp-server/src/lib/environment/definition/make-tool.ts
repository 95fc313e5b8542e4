import type { JsonObject, ToolAnnotations, ToolInfo } from '@episodic/protocol'
import type { z } from 'zod'
import { ServerError } from '../../server-error.ts'
import { EPISODE_OVER, OBSERVATION } from '../answer/agent-answer.ts'
import { invalid, jsonSchemaOf } from './definition-schema.ts'
import type { Preparation, Tool, ToolParts } from './environment.ts'

export interface WrittenTool
  extends Pick<Tool, 'description' | 'input' | 'play'>,
    Pick<
      ToolParts<unknown, unknown, z.ZodType, z.ZodType, z.ZodType>,
      'output' | 'dataFollows' | 'annotations' | 'prepared' | 'prepareSeconds' | 'effect' | 'repeatable'
    > {
  readonly seats?: readonly string[]
  prepare?: Preparation['prepare']
}

/** Seconds that a preparation may take by default. */
const PREPARE_SECONDS = 30

/** A day. A timer of more than 24 days fires at once, and the session's other calls wait for a preparation. */
const MOST_PREPARE_SECONDS = 86_400

/** Returns a tool with its defaults. Throws `definition-invalid` for a preparation that is described in part. */
export const makeTool = (written: WrittenTool): Tool => {
  const {
    output = null,
    dataFollows = output !== null,
    prepared,
    prepare,
    prepareSeconds: seconds = PREPARE_SECONDS,
    effect,
    repeatable = false,
    seats = null,
    ...tool
  } = written
  if (dataFollows && !output)
    throw wrong('A tool has dataFollows and no output. Declare the `output` that follows, or leave dataFollows out.')
  const half = prepared ? 'prepared' : prepare ? 'prepare' : effect ? 'effect' : repeatable && 'repeatable'
  if (half && !(prepared && prepare))
    throw wrong(
      `A tool has ${half} alone. \`prepare\` does the preparing, and \`prepared\` is the schema of its result: write both, or neither.`,
    )
  if (!(seconds > 0 && seconds <= MOST_PREPARE_SECONDS))
    throw wrong(`prepareSeconds is ${seconds}, and has to be above 0, and at most ${MOST_PREPARE_SECONDS}.`)
  const external = effect === 'external'
  if (external && repeatable)
    throw wrong(
      "A tool has effect: 'external' and is repeatable. An effect that must not happen twice cannot be repeated: leave out one of them.",
    )
  const preparation = prepared && prepare ? { schema: prepared, seconds, external, repeatable, prepare } : null
  const annotations: ToolAnnotations = {
    readOnlyHint: false,
    destructiveHint: effect === 'external',
    idempotentHint: false,
    openWorldHint: preparation !== null,
    ...tool.annotations,
  }
  return { ...tool, output, dataFollows, annotations, preparation, seats, sealed: false }
}

const wrong = (message: string) => new ServerError('definition-invalid', message)

export function hasTool(tool: Tool, seat: string): boolean {
  return tool.seats === null || tool.seats.includes(seat)
}

/** Describes a tool for players. `view` is the schema of its answer if it declares no output. */
export function toToolInfo(environment: string, name: string, tool: Tool, view: z.ZodType): ToolInfo {
  if (!/^[\w.-]{1,128}$/.test(name))
    throw invalid(environment, `its tool "${name}" needs a name of letters, digits, "_", "-" and "." (at most 128)`)
  const inputSchema = withoutHeaders(jsonSchemaOf(tool.input, 'input', `the input of ${name}`))
  if (inputSchema.type !== 'object')
    throw invalid(environment, `the input of ${name} must be an object schema, because tools take named arguments`)
  const outputSchema = jsonSchemaOf(
    tool.output ?? view,
    'output',
    tool.output ? `the output of ${name}` : `the public state, which ${name} answers with`,
  )
  if (outputSchema.type !== 'object')
    throw invalid(environment, `the output of ${name} must be an object schema, because MCP carries objects`)
  for (const field of [OBSERVATION, EPISODE_OVER])
    if (Object.hasOwn((outputSchema.properties ?? {}) as JsonObject, field))
      throw invalid(
        environment,
        `the output of ${name} declares ${field}, which is a field that the server adds for agents; give yours another name`,
      )
  // What was prepared is recorded, and read by its schema again: a schema that changes values would change them twice.
  if (tool.preparation) jsonSchemaOf(tool.preparation.schema, 'output', `what ${name} prepares`)
  const { description, annotations, sealed } = tool
  return { name, description, inputSchema, outputSchema, annotations, ...(sealed && { sealed: true }) }
}

/**
 * Returns a schema that repeats no argument in a header of HTTP (`x-mcp-header`): a server that lists one has to reject
 * calls whose header differs, and the arguments of a world are read from the call alone.
 */
function withoutHeaders(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'x-mcp-header' && typeof value === 'string' ? undefined : value,
  )
}
