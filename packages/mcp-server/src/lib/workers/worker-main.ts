import { scheduler } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import type { JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { assertJsonState } from '@episodic/state/internal'
import { bySeat } from '../environment/by-seat.ts'
import type { EnvironmentDefinition } from '../environment/environment.ts'
import { directRules } from '../environment/rules-runner.ts'
import type { PlayOutcome } from '../environment/rules-turn.ts'
import { asError } from '../environment/thrown-value.ts'
import { ServerError } from '../server-error.ts'
import type {
  RulesAnswer,
  RulesCall,
  SecretsBySeat,
  ThreadData,
  ThreadMessage,
  ThrownError,
} from './worker-messages.ts'

// The code of a thread of the pool: it loads the environments' modules, then answers one call after the other.

const environments: EnvironmentDefinition[] = []
for (const address of (workerData as ThreadData).modules)
  environments.push(...Object.values(await import(address)).filter(isEnvironment))

// What rules schedule would run during the call of another session.
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'])
  Object.defineProperty(globalThis, name, { value: refuseToSchedule(name), configurable: true, writable: true })

parentPort?.on('message', async (call: RulesCall) => {
  const answered = answer(call)
  // A promise that the rules left behind fails first: it ends the thread while the call is still theirs.
  await scheduler.yield()
  say(answered)
})
say({ kind: 'ready' })

function refuseToSchedule(name: string): () => never {
  return () => {
    throw new ServerError(
      'rules-failed',
      `The rules use ${name}, and nothing of a call may happen after it. Use elapse(milliseconds): rules take no real time.`,
    )
  }
}

function say(message: ThreadMessage): void {
  try {
    parentPort?.postMessage(message)
  } catch (cause) {
    // An answer may contain a function, for example, which cannot be sent to another thread.
    parentPort?.postMessage(threw(cause))
  }
}

function answer(call: RulesCall): ThreadMessage {
  try {
    return { kind: 'done', ...run(call), outside: bytesOutside() }
  } catch (cause) {
    return threw(cause)
  }
}

function threw(cause: unknown): ThreadMessage {
  return { kind: 'threw', error: toThrown(cause), outside: bytesOutside() }
}

function bytesOutside(): number {
  return getHeapStatistics().external_memory
}

function run(call: RulesCall): RulesAnswer {
  const environment = find(call.environment)
  if (call.kind === 'start') {
    const start = directRules.start(environment, call.params, call.seed)
    return { value: start, secrets: list(environment, start.state, call.params) }
  }
  if (call.kind === 'observe') {
    const observed = directRules.observe(environment, call.state, call.params, call.seat)
    return { value: observed, secrets: list(environment, call.state, call.params) }
  }
  if (call.kind === 'legal') {
    const legal = directRules.legal(environment, call.state, call.params, call.seat)
    return { value: legal, secrets: list(environment, call.state, call.params) }
  }
  if (call.kind === 'judge') {
    const { end, state, params, seat } = call
    const success = directRules.evaluateSuccess(environment, { end, state, params, seat })
    return { value: success, secrets: list(environment, state, params) }
  }
  const { params, state } = call.turn.record
  if (call.kind === 'event') {
    const turn = { record: call.turn.record, draft: structuredClone(state) }
    const happened = directRules.apply(environment, turn, call.event)
    assertJsonState(happened.change.state)
    return { value: happened, secrets: list(environment, happened.change.state, params) }
  }
  const outcome: PlayOutcome = directRules.play(
    environment,
    { ...call.turn, draft: structuredClone(state) },
    call.action,
  )
  // An instance of a class would arrive as a plain object, which looks like a valid state.
  if (outcome.change) assertJsonState(outcome.change.state)
  return { value: outcome, secrets: list(environment, outcome.change?.state ?? state, params) }
}

/** Lists the secrets of a state. If that throws, the step still counts, and only its answers are withheld. */
function list(environment: EnvironmentDefinition, state: SessionState, params: JsonObject): SecretsBySeat {
  return bySeat(environment.seats, (seat) => {
    try {
      return { listed: directRules.secrets(environment, state, params, seat) }
    } catch (cause) {
      return { error: toThrown(asError(cause)) }
    }
  })
}

function find({ name, version }: RulesCall['environment']): EnvironmentDefinition {
  const found = environments.find((environment) => environment.name === name && environment.version === version)
  if (found) return found
  throw new ServerError(
    'rules-failed',
    `No module of the threads exports the environment ${name} in version ${version}. Restart the server where a world was changed.`,
  )
}

function isEnvironment(value: unknown): value is EnvironmentDefinition {
  return typeof value === 'object' && value !== null && 'toolInfos' in value && 'start' in value
}

/** The fields of an error that can be sent from any thread. */
function toThrown(cause: unknown): ThrownError {
  const { name, message, stack } = cause as Error
  return { name, message, stack }
}
