import { type JsonObject, WireError } from '@episodic/protocol'
import { invalidParams, WIRE_ERROR_NUMBERS } from '@episodic/protocol/internal'
import type { AgentCaller } from '../host/access/caller.ts'
import type { SessionRef, StepOutcome, TaskState } from '../host/host.ts'
import { answerFailure, answerStep, answerTurn, playAgain } from './agent-call.ts'
import { type ScannedAnswer, scanAnswer, worldTextOf } from './leak-scan.ts'
import { type AgentAsker, declares, type Message } from './message.ts'
import { TASKS } from './server-info.ts'

/** Milliseconds between two polls of a task. */
const POLL_INTERVAL = 1_000

const METHODS = new Set(['tasks/get', 'tasks/update', 'tasks/cancel'])

export async function createTask(session: SessionRef, name: string, token: string | null): Promise<ScannedAnswer> {
  const state = await (await session.tasks()).find(name)
  // At an address of many sessions, the id names its session with the token that the call has sent.
  const taskId = token === null ? name : `${name}.${token}`
  return { result: { resultType: 'task', ...toTask(taskId, 'working', state) }, secrets: null }
}

/**
 * Answers `tasks/get`, `tasks/update` and `tasks/cancel`; resolves with `undefined` for any other method. Rejects with
 * `missing-capability` for a client that takes no tasks, and with `invalid-params` for a task that is not there.
 */
export async function answerTasks(
  asker: AgentAsker,
  { method, params, meta }: Pick<Message, 'method' | 'params' | 'meta'>,
): Promise<ScannedAnswer | undefined> {
  if (!METHODS.has(method)) return undefined
  if (!declares(meta, TASKS))
    throw new WireError('missing-capability', `A client that calls ${method} declares the extension ${TASKS}.`, {
      details: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    })
  const { taskId } = params
  if (typeof taskId !== 'string') throw invalidParams(`The taskId of ${method} is a string.`)
  const [, name, token] = /^(tsk_(?:[^.]+\.){3}[^.]*\.[^.]+)(?:\.(.+))?$/.exec(taskId) ?? []
  if (name === undefined) throw noTask()
  const tasks = await (await resolveTask(asker, token)).tasks()
  const state = await tasks.find(name)
  if (method === 'tasks/get') return answerState(asker, taskId, state)
  // A task asks its client for nothing, so that there is nothing to update.
  if (method === 'tasks/cancel') await tasks.cancel(name)
  return { result: {}, secrets: null }
}

async function resolveTask({ host, caller, session }: AgentAsker, token: string | undefined): Promise<SessionRef> {
  const { principal, address } = caller
  if (session && token === undefined) return session
  if (address.by !== 'argument' || token === undefined) throw noTask()
  try {
    return await host.resolve(principal, { by: 'argument', token, environment: address.environment })
  } catch (error) {
    throw WireError.is(error, 'session-not-found') ? noTask() : error
  }
}

function answerState({ host, caller }: AgentAsker, taskId: string, state: TaskState): ScannedAnswer {
  const { outcome } = state
  const again = playAgain(host, caller.address)
  if (outcome.kind === 'answered') {
    const { step, turn } = outcome
    const answer = turn ? answerTurn(step, turn, again) : answerStep(step as StepOutcome, again)
    return completed(caller, taskId, state, answer)
  }
  if (outcome.kind !== 'failed') return { result: toTask(taskId, outcome.kind, state), secrets: null }
  const answer = answerFailure(outcome.cause, again)
  return answer ? completed(caller, taskId, state, answer) : failed(taskId, state, outcome.cause)
}

/** Returns the task with its answer; as failed if the answer has to be withheld, so that nobody polls it for ever. */
function completed(caller: AgentCaller, taskId: string, state: TaskState, answer: ScannedAnswer): ScannedAnswer {
  try {
    scanAnswer(caller, null, { method: 'tasks/get', params: { taskId } }, worldTextOf(answer), answer)
  } catch (error) {
    return failed(taskId, state, error)
  }
  const result = { resultType: 'complete', ...(answer.result as JsonObject) }
  return { ...answer, result: { ...toTask(taskId, 'completed', state), result } }
}

function failed(taskId: string, state: TaskState, cause: unknown): ScannedAnswer {
  if (!WireError.is(cause)) throw cause
  const { code, message, details } = cause
  const error = { code: WIRE_ERROR_NUMBERS[code], message, data: { code, ...details } }
  return { result: { ...toTask(taskId, 'failed', state), error }, secrets: null }
}

function toTask(taskId: string, status: string, { createdAt, updatedAt, keptSeconds }: TaskState) {
  return {
    taskId,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: Math.round(keptSeconds * 1_000),
    pollIntervalMs: POLL_INTERVAL,
  }
}

function noTask(): WireError {
  return invalidParams('There is no such task, or its session is gone.')
}
