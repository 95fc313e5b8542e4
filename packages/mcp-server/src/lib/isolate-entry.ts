import { parentPort, workerData } from 'node:worker_threads'
import { assertJsonState } from '@episodic/state'
import type { Environment } from './environment.ts'
import type { RulesCall, ThreadData, ThreadMessage, ThrownError } from './isolate-messages.ts'
import type { Outcome, Standing } from './rules.ts'
import { directRules } from './rules-runner.ts'
import { ServerError } from './server-error.ts'

// What a thread of the pool runs: it loads the worlds' own modules, and then answers one call after the other.

const environments: Environment[] = []
for (const address of (workerData as ThreadData).modules)
  environments.push(...Object.values(await import(address)).filter(isEnvironment))

parentPort?.on('message', (call: RulesCall) => say(answer(call)))
say({ kind: 'ready' })

function say(message: ThreadMessage): void {
  try {
    parentPort?.postMessage(message)
  } catch (cause) {
    // A function in an answer, for one, cannot leave the thread.
    parentPort?.postMessage({ kind: 'threw', error: describe(cause) } satisfies ThreadMessage)
  }
}

function answer(call: RulesCall): ThreadMessage {
  try {
    return { kind: 'done', value: run(call) }
  } catch (cause) {
    return { kind: 'threw', error: describe(cause) }
  }
}

function run(call: RulesCall): Standing | Outcome {
  const environment = find(call.environment)
  if (call.kind === 'start') return directRules.start(environment, call.params, call.seed)
  if (call.kind === 'look') return directRules.look(environment, call.state, call.params)
  const { turn, action } = call
  const outcome = directRules.play(environment, { ...turn, draft: structuredClone(turn.record.state) }, action)
  // An instance of a class would leave the thread as a plain object, and so look like a state that can be kept.
  if (outcome.change) assertJsonState(outcome.change.state)
  return outcome
}

function find({ name, version }: RulesCall['environment']): Environment {
  const found = environments.find((environment) => environment.name === name && environment.version === version)
  if (found) return found
  throw new ServerError(
    'rules-failed',
    `No module of the threads exports the environment ${name} in version ${version}. Restart the server where a world was changed.`,
  )
}

function isEnvironment(value: unknown): value is Environment {
  return typeof value === 'object' && value !== null && 'toolInfos' in value && 'start' in value
}

/** What of an error leaves the thread in any case. */
function describe(cause: unknown): ThrownError {
  const { name, message, stack } = cause as Error
  return { name, message, stack }
}
