import type { Guarantees } from '@episodic/protocol'
import { DEFAULT_LIMITS, type EnvironmentInfo, type JsonObject, type ToolInfo, WireError } from '@episodic/protocol'
import { parseParams, randomText } from '@episodic/protocol/internal'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'
import type { Connection } from '../environment/connection.ts'
import type { CallOptions } from '../session/call-options.ts'
import { openDefinedSession } from './defined-session.ts'
import { createExternalConnection, limitsOf } from './external-connection.ts'
import type { ExternalEnvironment } from './external-environment.ts'
import { openEpisodeServer } from './external-episode-server.ts'
import { listTools } from './external-server.ts'

export interface DefinedConnectionOptions extends CallOptions {
  /** Monotonic milliseconds, for time limits. */
  readonly now?: () => number
}

/** The seed is given to the functions of the definition. */
const GUARANTEES: Guarantees = { system: 'mcp', replay: false, delivery: 'at-most-once', seed: 'passed-on' }

/**
 * Connects to an external environment: starts its server once to read the tools, and stops it again.
 *
 * Every episode has its own server.
 */
export async function openDefinedConnection(
  definition: ExternalEnvironment,
  { now, ...options }: DefinedConnectionOptions = {},
): Promise<Connection> {
  const info = await readInfo(definition, options)
  const tools = info.tools.map(({ name }) => name)
  return createExternalConnection({
    environments: [info],
    guarantees: GUARANTEES,
    now,
    open: async (_, { params, seed }, options) =>
      openDefinedSession({ definition, tools, params: paramsOf(definition, params), seed }, options),
  })
}

async function readInfo(definition: ExternalEnvironment, options: CallOptions): Promise<EnvironmentInfo> {
  const { name, version, description, params, limits = {}, rewards, parallelToolCalls } = definition
  return {
    name,
    version,
    description,
    paramsSchema: z.toJSONSchema(params, { io: 'input' }) as JsonObject,
    tools: chooseTools(definition, await readTools(definition, options)),
    terms: Object.keys(rewards),
    potential: false,
    ...(parallelToolCalls === false && { parallelToolCalls }),
    forkable: false,
    limits: limitsOf(DEFAULT_LIMITS, limits),
  }
}

async function readTools(definition: ExternalEnvironment, options: CallOptions): Promise<ToolInfo[]> {
  const params = typeof definition.target === 'function' ? paramsOf(definition, {}) : {}
  const server = await openEpisodeServer(definition, { params, seed: randomText() }, options)
  try {
    return await listTools(server.channel, options)
  } finally {
    await server.close()
  }
}

function chooseTools({ name, tools: wanted }: ExternalEnvironment, listed: readonly ToolInfo[]): readonly ToolInfo[] {
  if (!wanted) return listed
  return wanted.map((tool) => {
    const found = listed.find((other) => other.name === tool)
    if (found) return found
    const names = listed.map((other) => other.name).join(', ')
    throw new EnvError('option-invalid', `${name} names the tool "${tool}", and its server has: ${names || 'none'}.`)
  })
}

function paramsOf(definition: ExternalEnvironment, given: JsonObject): JsonObject {
  try {
    return parseParams(definition, given)
  } catch (cause) {
    if (!WireError.is(cause)) throw cause
    throw new EnvError(
      'option-invalid',
      `${cause.message} Each parameter that the target is made from needs a default, for the tools to be read.`,
      { cause },
    )
  }
}
