import { type EnvironmentInfo, type Guarantees, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'
import type { Connection } from '../environment/connection.ts'
import { createExternalConnection, KEPT_OUTSIDE, UNKNOWN_VERSION } from '../external/external-connection.ts'
import { fetchFrom, refusedWith, type SystemTarget } from '../external/system-target.ts'
import type { CallOptions } from '../session/call-options.ts'
import { type Capacity, createCapacity } from './capacity.ts'
import { beginSession, openOpenEnvSession } from './openenv-session.ts'
import { callsTools, LIST_TOOLS, listedTools, type OpenEnvTools, stepTool } from './openenv-tools.ts'

const GUARANTEES: Guarantees = { system: 'openenv', replay: false, delivery: 'at-most-once', seed: 'passed-on' }

const schemasSchema = z.object({ action: jsonObjectSchema, observation: jsonObjectSchema.nullish() })
const metadataSchema = z.object({
  name: z.string().min(1),
  description: z.string().nullish(),
  version: z.string().nullish(),
})

/**
 * Connects to a server of OpenEnv, whose environment is then played like others. Each episode has a WebSocket, and with
 * it a session, of its own.
 *
 * An environment that lists tools has those. Any other has one tool, `step`, whose arguments are the environment's
 * action. Parameters are the data of a reset, besides the seed: a text of digits is sent as that number, any other text
 * as a number drawn from it. A step whose reward is `null` has no reward term, and a reward of the reset counts for
 * nothing. An action that does not fit its schema is refused. If the session is dropped, the step rejects with
 * `outcome-unknown`. If the server is full, a reset waits until another episode of this connection ends.
 *
 * Rejects with `connection-failed`, and with `not-an-environment` for a server that is not one of OpenEnv.
 */
export async function openOpenEnvConnection(target: SystemTarget, options: CallOptions = {}): Promise<Connection> {
  const schemas = await readJson(target, '/schema', schemasSchema, options)
  if (!schemas) throw notOpenEnv(target, 'has no /schema')
  const metadata = await readJson(target, '/metadata', metadataSchema, options)
  const capacity = createCapacity()
  const tools = await readTools(target, schemas, capacity, options)
  const info: EnvironmentInfo = {
    name: metadata?.name ?? 'openenv',
    version: metadata?.version ?? UNKNOWN_VERSION,
    description: metadata?.description ?? 'An environment of a server of OpenEnv.',
    // The protocol does not describe what a reset takes.
    paramsSchema: { type: 'object', properties: {}, additionalProperties: true },
    tools: tools.tools,
    ...KEPT_OUTSIDE,
  }
  return createExternalConnection({
    environments: [info],
    guarantees: GUARANTEES,
    open: (_, setting, options) => openOpenEnvSession(target, tools, setting, capacity, options),
  })
}

async function readTools(
  target: SystemTarget,
  { action, observation }: z.output<typeof schemasSchema>,
  capacity: Capacity,
  options: CallOptions,
): Promise<OpenEnvTools> {
  if (!callsTools(action)) return stepTool(action, observation)
  const { result, close } = await beginSession(target, { type: 'step', data: LIST_TOOLS }, capacity, options)
  await close()
  return listedTools(result.observation)
}

/** Resolves with `null` if the server has no such path. */
async function readJson<T>(
  target: SystemTarget,
  path: string,
  schema: z.ZodType<T>,
  { signal }: CallOptions,
): Promise<T | null> {
  const { url, token, headers } = target
  const authorization = token && { Authorization: `Bearer ${token}` }
  const response = await fetchFrom(target, path, { headers: { ...headers, ...authorization } }, signal)
  if (response.status === 404) return null
  if (!response.ok) throw refusedWith(response.status, `${url}${path}`, '.')
  const parsed = schema.safeParse(await response.json().catch(() => null))
  if (!parsed.success) throw notOpenEnv(target, `answers ${path} otherwise`)
  return parsed.data
}

function notOpenEnv({ url }: SystemTarget, why: string): EnvError {
  return new EnvError(
    'not-an-environment',
    `${url} is not a server of OpenEnv: it ${why}. Give the URL that /schema and /ws follow.`,
  )
}
