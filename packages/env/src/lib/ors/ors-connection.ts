import type { EnvironmentInfo, Guarantees, JsonObject } from '@episodic/protocol'
import type { Connection } from '../environment/connection.ts'
import { createExternalConnection, KEPT_OUTSIDE, UNKNOWN_VERSION } from '../external/external-connection.ts'
import type { SystemTarget } from '../external/system-target.ts'
import type { CallOptions } from '../session/call-options.ts'
import { OrsClient } from './ors-client.ts'
import { openOrsSession } from './ors-session.ts'

/** A lost call is resumed only while its id is known. */
const GUARANTEES: Guarantees = { system: 'ors', replay: false, delivery: 'at-most-once', seed: 'ignored' }

/**
 * Connects to a server of the Open Reward Standard, whose environments are then played like others.
 *
 * The parameters of an episode name its task: `split` (default: the first one) and `index` (default 0), or `task` with
 * a row of its own. The protocol has no seed, so the seed of a task changes nothing, and an episode cannot be replayed.
 * The server keeps the state: there are no snapshots, no hashes of states, and no events. A lost call is played at most
 * once. A step for which the server gives no reward has no reward term.
 */
export async function openOrsConnection(target: SystemTarget, options: CallOptions = {}): Promise<Connection> {
  const client = new OrsClient(target)
  const names = await client.environments(options)
  return createExternalConnection({
    environments: await Promise.all(names.map((name) => readInfo(client, name, options))),
    guarantees: GUARANTEES,
    open: (info, { params }, options) => openOrsSession(client, info, params, options),
    async splits({ name }, options) {
      const splits = await client.splits(name, options)
      return Promise.all(
        splits.map(async (split) => ({ ...split, tasks: await client.countTasks(name, split.name, options) })),
      )
    },
  })
}

async function readInfo(client: OrsClient, name: string, options: CallOptions): Promise<EnvironmentInfo> {
  const [splits, tools] = await Promise.all([client.splits(name, options), client.tools(name, options)])
  return {
    name,
    // The protocol has no version of an environment.
    version: UNKNOWN_VERSION,
    description: `An environment of a server of the Open Reward Standard.`,
    paramsSchema: paramsSchemaOf(splits.map((split) => split.name)),
    tools: tools.map(({ name: tool, description, input_schema }) => ({
      name: tool,
      description: description ?? '',
      inputSchema: input_schema ?? { type: 'object', properties: {} },
      outputSchema: null,
    })),
    ...KEPT_OUTSIDE,
  }
}

function paramsSchemaOf(splits: readonly string[]): JsonObject {
  const [first] = splits
  return {
    type: 'object',
    properties: {
      split: { type: 'string', enum: [...splits], ...(first !== undefined && { default: first }) },
      index: { type: 'integer', default: 0 },
      task: { type: 'object' },
    },
    additionalProperties: false,
  }
}
