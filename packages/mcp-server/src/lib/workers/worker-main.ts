import { scheduler } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import type { JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { assertJson, type Happened } from '@episodic/state/internal'
import type { EnvironmentDefinition } from '../environment/definition/environment.ts'
import { asError } from '../environment/definition/thrown-value.ts'
import { directRules } from '../environment/rules/rules-runner.ts'
import { bySeat, type PlayOutcome } from '../environment/rules/rules-turn.ts'
import { rulesFailed } from '../server-error.ts'
import { isSent, type OpenedState, StatesInThread, stateOf, withState } from './sent-states.ts'
import type {
  RulesAnswer,
  RulesCall,
  SecretsBySeat,
  SentCall,
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

const states = new StatesInThread()

parentPort?.on('message', async (message: SentCall) => {
  const answered = await answer(message)
  // A promise that the rules left behind fails first: it ends the thread while the call is still theirs.
  await scheduler.yield()
  say(answered)
})
say({ kind: 'ready' })

function refuseToSchedule(name: string): () => never {
  return () => {
    throw rulesFailed(
      `The rules use ${name}, and nothing of a call may happen after it. Use elapse(milliseconds): rules take no real time.`,
    )
  }
}

function say(message: ThreadMessage): void {
  try {
    try {
      parentPort?.postMessage(message)
    } catch {
      // An answer may contain a part of a large state, which only a copy can be sent of.
      parentPort?.postMessage(structuredClone(message))
    }
  } catch (cause) {
    // An answer may contain a function, for example, which cannot be sent to another thread.
    parentPort?.postMessage(threw(cause))
  }
}

async function answer({ call, sent }: SentCall): Promise<ThreadMessage> {
  try {
    const opened = sent ? await states.open(sent) : openPlain(stateOf(call) as SessionState)
    return { kind: 'done', ...run(sent ? withState(call, opened.state) : call, opened), outside: bytesOutside() }
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

function openPlain(state: SessionState): OpenedState {
  return {
    state,
    draft: () => structuredClone(state),
    settle(left) {
      // An instance of a class would arrive as a plain object, which looks like a valid state.
      assertJson(left)
      return { state: left, sent: left }
    },
  }
}

function run(call: RulesCall, opened: OpenedState): RulesAnswer {
  const environment = find(call.environment)
  const answerAt = (value: RulesAnswer['value'], state: SessionState, params: JsonObject): RulesAnswer => {
    return { value, secrets: list(environment, state, params) }
  }
  if (call.kind === 'start') {
    const start = directRules.start(environment, call.params, call.seed)
    return answerAt(start, start.state, call.params)
  }
  if (!('turn' in call)) {
    const { state, params, seat } = call
    const value =
      call.kind === 'judge'
        ? directRules.evaluate(environment, call)
        : directRules[call.kind](environment, state, params, seat)
    return answerAt(value, state, params)
  }
  const { params } = call.turn.record
  const changed = <Value extends PlayOutcome | Happened>(value: Value): RulesAnswer => {
    if (!value.change) return answerAt(value, opened.state, params)
    const { state, sent } = opened.settle(value.change.state)
    const secrets = list(environment, state, params)
    if (!isSent(sent)) return { value: { ...value, change: { ...value.change, state: sent } }, secrets }
    return { value: { ...value, change: { ...value.change, state: NOT_HERE } }, secrets, made: sent }
  }
  const draft = opened.draft()
  return call.kind === 'event'
    ? changed(directRules.apply(environment, { record: call.turn.record, draft }, call.event))
    : changed(directRules.play(environment, { ...call.turn, draft }, call.action))
}

/** In the place of a state that is sent by its pages. */
const NOT_HERE: SessionState = { public: {}, private: {} }

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
  throw rulesFailed(
    `No module of the threads exports the environment ${name} in version ${version}. Restart the server where a world was changed.`,
  )
}

function isEnvironment(value: unknown): value is EnvironmentDefinition {
  return typeof value === 'object' && value !== null && 'toolInfos' in value && 'start' in value
}

function toThrown(cause: unknown): ThrownError {
  const { name, message, stack } = cause as Error
  return { name, message, stack }
}
