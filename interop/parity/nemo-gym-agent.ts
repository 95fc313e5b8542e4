import type { Host } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { serveNemoGym } from '@episodic/trainer-endpoints/nemo-gym'
import type { RolloutResult } from '../nemo-gym/check-rollout.ts'
import { rowOf } from '../nemo-gym/row-of.ts'
import { NEMO_GYM_SHOWS, seenRollout } from './nemo-gym-client.ts'
import type { ParityClient, ParityPlayer } from './parity-client.ts'
import type { Script } from './script.ts'

/** The requests of NeMo Gym's `simple_agent`, for tests on machines without its Python. */
export const NEMO_GYM_AGENT: ParityClient = {
  name: 'nemo-gym-agent',
  title: 'NeMo Gym, the requests of simple_agent',
  shows: NEMO_GYM_SHOWS,
  async open(host: Host): Promise<ParityPlayer> {
    const server = await serveNemoGym(host)
    return {
      play: async (script) => seenRollout(host, script.world.name, await rollOut(server.origin, script)),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  },
}

async function rollOut(origin: string, { world, task, actions }: Script): Promise<RolloutResult> {
  let cookie = ''
  const post = async (path: string, body: object): Promise<Response> => {
    const response = await fetch(`${origin}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
    cookie = response.headers.getSetCookie()[0]?.split(';', 1)[0] ?? cookie
    return response
  }
  const row = rowOf(world, task)
  await read(await post('seed_session', row))
  const output: JsonObject[] = []
  for (const [place, { tool, arguments: input }] of actions.entries()) {
    const call_id = `call-${place}`
    output.push({ type: 'function_call', call_id, name: tool, arguments: JSON.stringify(input) })
    // What a tool answers is shown to the model, whatever its status.
    output.push({ type: 'function_call_output', call_id, output: await (await post(tool, input)).text() })
  }
  const response = { output }
  return { ...(await read(await post('verify', { ...row, response }))), response }
}

async function read(response: Response): Promise<RolloutResult> {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as RolloutResult
}
