import { createRng, type JsonObject } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'
import type { SessionSetting } from '../external/external-connection.ts'
import { type ExternalSession, type ExternalStep, LATE_STEP, refusal } from '../external/external-session.ts'
import type { SystemTarget } from '../external/system-target.ts'
import type { CallOptions } from '../session/call-options.ts'
import type { Capacity } from './capacity.ts'
import { answerOf, observationOf } from './openenv-observation.ts'
import { type OpenEnvFrame, type OpenEnvRequest, type OpenEnvResult, OpenEnvSocket } from './openenv-socket.ts'
import type { OpenEnvTools } from './openenv-tools.ts'

export interface BegunSession {
  readonly result: OpenEnvResult
  readonly socket: OpenEnvSocket
  close(): Promise<void>
}

/**
 * Opens a connection and makes its first request. If the server has no room, waits until another session of this client
 * ends. Rejects with `connection-failed` if there is none, and with `rules-failed` if the environment fails.
 */
export async function beginSession(
  target: SystemTarget,
  first: OpenEnvRequest,
  capacity: Capacity,
  options: CallOptions,
): Promise<BegunSession> {
  for (;;) {
    const place = await capacity.enter(options.signal)
    let socket: OpenEnvSocket | null = null
    try {
      socket = await OpenEnvSocket.open(target)
      const opened = socket
      const frame = await opened.request(first, options)
      if (frame.type === 'observation') {
        const close = () => opened.close().finally(place.leave)
        return { result: frame.data, socket: opened, close }
      }
      if (frame.data.code !== 'CAPACITY_REACHED') throw failure(first.type, frame.data)
    } catch (error) {
      await socket?.close()
      place.leave()
      throw error
    }
    await socket.close()
    if (place.rejected()) continue
    throw new EnvError('connection-failed', `${target.url} has no room for another session. Others are using it.`)
  }
}

export async function openOpenEnvSession(
  target: SystemTarget,
  { actionOf, tools }: OpenEnvTools,
  { params, seed }: SessionSetting,
  capacity: Capacity,
  options: CallOptions,
): Promise<ExternalSession> {
  const reset: OpenEnvRequest = { type: 'reset', data: { seed: seedNumber(seed), ...params } }
  const { result, socket, close } = await beginSession(target, reset, capacity, options)
  if (result.done) {
    await close()
    throw new EnvError('rules-failed', 'The environment was reset, and says that the episode is over before any step.')
  }
  return {
    params,
    observation: observationOf(result.observation),
    async play({ action, late }, options) {
      if (late) return LATE_STEP
      const data = actionOf(action)
      if (data) return answerTo(await step(socket, data, options))
      const names = tools.map(({ name }) => name).join(', ')
      return refusal('tool', `There is no tool "${action.tool}". The tools are: ${names}.`)
    },
    close,
  }
}

/** Rejects with `outcome-unknown` if the connection is lost: it is the session, so there is no other to ask. */
async function step(socket: OpenEnvSocket, data: JsonObject, options: CallOptions): Promise<OpenEnvFrame> {
  try {
    return await socket.request({ type: 'step', data }, options)
  } catch (cause) {
    if (!EnvError.is(cause, 'connection-failed')) throw cause
    throw new EnvError(
      'outcome-unknown',
      `The session was dropped, and whether the step took effect is not known. ${cause.message}`,
      { cause },
    )
  }
}

function answerTo(frame: OpenEnvFrame): ExternalStep {
  if (frame.type === 'observation') return answerOf(frame.data)
  const { code, message } = frame.data
  // The action did not fit its schema, and did not reach the environment.
  if (code === 'VALIDATION_ERROR') {
    const { errors } = frame.data
    return refusal('arguments', errors === undefined ? message : `${message}: ${JSON.stringify(errors)}`)
  }
  throw failure('step', frame.data)
}

function failure(type: string, { code, message }: { readonly code: string; readonly message: string }): EnvError {
  return new EnvError('rules-failed', `The environment failed at ${type}: ${message} (${code})`)
}

/** The most that a seed of numpy can be, which environments pass seeds on to. */
const LARGEST_SEED = 2 ** 32 - 1

/**
 * Returns the seed as a whole number, which the protocol wants: a text of one is that number, another text draws one.
 */
function seedNumber(seed: string): number {
  const number = /^\d+$/.test(seed) ? Number(seed) : Number.NaN
  return number <= LARGEST_SEED ? number : createRng(seed).int(0, LARGEST_SEED)
}
