import { type Action, type JsonObject, type OutsideEvent, WireError, type WireErrorCode } from '@episodic/protocol'
import { invalidParams } from '@episodic/protocol/internal'
import { type SessionState, StateError } from '@episodic/state'
import type { SecretKind } from '../../environment/answer/secrets.ts'
import { faultOf } from '../../environment/definition/authored.ts'
import type { EnvironmentDefinition } from '../../environment/definition/environment.ts'
import type { Misfit } from '../../environment/definition/stored-state.ts'
import { asError } from '../../environment/definition/thrown-value.ts'
import type { EventTurn } from '../../environment/rules/apply-event.ts'
import type { CallOptions } from '../../environment/rules/call-options.ts'
import type { EndedEpisode } from '../../environment/rules/conclude-step.ts'
import { environmentRules } from '../../environment/rules/environment-rules.ts'
import type { RulesTurn } from '../../environment/rules/rules-turn.ts'
import { rulesFailed, ServerError, type ServerErrorCode } from '../../server-error.ts'
import { randomText } from '../access/session-tokens.ts'
import type { Containment } from './containment.ts'
import type { Metrics } from './metrics.ts'

/** An environment's code failed. */
export interface Fault {
  /** The reference that the caller received instead of the cause; `null` if the caller got a normal answer. */
  readonly reference: string | null
  readonly environment: string
  readonly session: string
  readonly cause: unknown
}

export interface FaultsOptions {
  readonly onFault: (fault: Fault) => void
  readonly metrics: Metrics | undefined
  readonly containment: Containment | undefined
  /** Called if something fails after its call was answered, or is gone, with the error for all further steps. */
  readonly onLost: (session: string, refusal: WireError) => void
}

export type Faults = ReturnType<typeof createFaults>

/** Distinguishes faults of an environment's own code from mistakes of callers, and gives each fault a reference. */
export function createFaults(options: FaultsOptions) {
  const reported = new Set<string>()
  return {
    /**
     * Runs an environment's code. What it throws or rejects with becomes `environment-failed`, or what {@link LOST} has
     * for its code, except a `WireError` and the reason of an aborted `waiting.signal`.
     */
    guard<T>(environment: string, session: string, run: () => T, waiting?: CallOptions): T {
      try {
        const result = contain(environment, session, run)
        if (!(result instanceof Promise)) return result
        return result.catch((thrown) => {
          throw failed(environment, session, thrown, waiting)
        }) as T
      } catch (thrown) {
        throw failed(environment, session, thrown, waiting)
      }
    },
    contain,
    /**
     * Returns the error for a stored session whose state does not fit the served schema. `onFault` gets the
     * details.
     */
    misfit({ name, version }: EnvironmentDefinition, session: string, { part, problem }: Misfit): WireError {
      const refusal = `The ${part} state of this session, which the store keeps, does not fit the ${part} state schema of ${name} ${version} that is served here: the schema changed within the version.`
      const cause = rulesFailed(`${refusal} ${problem}.`)
      const reference = reportFault(name, session, cause)
      return new WireError(
        'unknown-environment',
        `${refusal} Nothing was played. Serve the environment that the session began with, give the changed one a new version, or open a new session. Reference: ${reference}.`,
        { cause, details: { reference } },
      )
    },
    translate(environment: string, session: string, error: unknown): unknown {
      if (StateError.is(error, 'not-json') || StateError.is(error, 'too-large'))
        return report(environment, session, error)
      return refusalOf(error)
    },
    /**
     * Returns the error in place of an answer that contains a secret, or whose secrets the environment failed to list.
     * Its cause is the error for a trainer.
     */
    withhold(environment: string, session: string, found: SecretKind | { readonly cause: unknown }): WireError {
      const reference = randomText()
      const cause =
        typeof found === 'string'
          ? new ServerError(
              'secret-leaked',
              `An answer of ${environment} was withheld: it had ${LEAKED[found]} in it.${found === 'declared' ? ' Leave it out of the answer, or out of `secrets` once it is revealed.' : ''}`,
            )
          : asError(found.cause)
      if (typeof found === 'string') options.metrics?.leaked(environment, found)
      else options.metrics?.fault(environment)
      options.onFault({ reference, environment, session, cause })
      return internalError(reference, failedError(environment, cause, { reference }))
    },
    dropped(environment: string, session: string, tool: string, key: string): void {
      options.metrics?.dropped(environment, tool)
      const name = `${environment} ${tool}`
      if (reported.has(name)) return
      reported.add(name)
      const cause = rulesFailed(
        `Tool ${tool} of ${environment} says "${key}", which its output does not declare, so it was left out. Declare it in the output, or do not return it. Further undeclared keys are counted, and not reported.`,
      )
      options.onFault({ reference: null, environment, session, cause })
    },
  }

  function failed(environment: string, session: string, thrown: unknown, waiting: CallOptions | undefined): unknown {
    if (waiting?.signal.aborted && thrown === waiting.signal.reason) return thrown
    const cause = asError(thrown)
    const lost = ServerError.is(cause) ? LOST[cause.code] : undefined
    if (!lost) return WireError.is(cause) ? cause : report(environment, session, cause)
    const refusal = lostError(environment, session, cause, lost)
    options.onLost(session, refusal)
    return refusal
  }

  /**
   * Runs an environment's code, so that work that it leaves behind and that fails later counts as a fault of this
   * session, whose further steps are then refused. Synchronous errors are rethrown. Only the first failure of a call is
   * reported: a timer may throw repeatedly.
   */
  function contain<T>(environment: string, session: string, run: () => T): T {
    if (!options.containment) return run()
    let reported = false
    const escaped = (thrown: unknown) => {
      if (reported) return
      reported = true
      const cause = faultOf(`What ${environment} did not await`, thrown)
      options.onLost(session, report(environment, session, cause, ESCAPED, { sessionFailed: true }))
    }
    return options.containment.run({ environment, session, escaped }, run)
  }

  function lostError(environment: string, session: string, cause: Error, code: WireErrorCode): WireError {
    const reference = reportFault(environment, session, cause)
    const said = cause.message.slice(0, MESSAGE_LENGTH).toWellFormed()
    return new WireError(code, `${said} Open a new session. Reference: ${reference}.`, {
      cause,
      details: { reference, sessionFailed: true },
    })
  }

  function report(environment: string, session: string, cause: Error, what = '', details = {}): WireError {
    const reference = reportFault(environment, session, cause)
    return failedError(environment, cause, { reference, ...details }, what)
  }

  function reportFault(environment: string, session: string, cause: Error): string {
    const reference = randomText()
    options.metrics?.fault(environment)
    options.onFault({ reference, environment, session, cause })
    return reference
  }
}

/** The rules of one session. What they throw is a fault of their environment; see {@link Faults.guard}. */
export class SessionRules {
  readonly #faults: Faults
  readonly #environment: EnvironmentDefinition
  readonly #session: string

  constructor(faults: Faults, environment: EnvironmentDefinition, session: string) {
    this.#faults = faults
    this.#environment = environment
    this.#session = session
  }

  start(params: JsonObject, seed: string) {
    return this.guard(() => environmentRules.start(this.#environment, params, seed))
  }

  observe(state: SessionState, params: JsonObject, seat: string) {
    return this.guard(() => environmentRules.observe(this.#environment, state, params, seat))
  }

  play(turn: RulesTurn, action: Action) {
    return this.guard(() => environmentRules.play(this.#environment, turn, action))
  }

  apply(turn: EventTurn, event: OutsideEvent) {
    return this.guard(() => environmentRules.apply(this.#environment, turn, event))
  }

  legal(state: SessionState, params: JsonObject, seat: string) {
    return this.guard(() => environmentRules.legal(this.#environment, state, params, seat))
  }

  evaluate(ended: EndedEpisode) {
    return this.guard(() => environmentRules.evaluate(this.#environment, ended))
  }

  guard<T>(run: () => T, waiting?: CallOptions): T {
    return this.#faults.guard(this.#environment.name, this.#session, run, waiting)
  }
}

/** The codes of errors after which no step of a session follows, and what its clients get. */
const LOST: Readonly<Partial<Record<ServerErrorCode, WireErrorCode>>> = {
  'session-lost': 'state-lost',
  'not-recorded': 'not-recorded',
}

function failedError(environment: string, cause: Error, details: JsonObject, what = ''): WireError {
  const said = cause.message.slice(0, MESSAGE_LENGTH).toWellFormed()
  return new WireError('environment-failed', `The environment ${environment} failed${what}: ${said}`, {
    cause,
    details,
  })
}

const ESCAPED =
  ' after it had answered an earlier call of this session, so no further step of it is played here. Rules are synchronous: await in the `prepare` of a tool'

/** Characters of an environment's error message that the trainer endpoint shows. `onFault` gets all of it. */
const MESSAGE_LENGTH = 1_800

const LEAKED: Readonly<Record<SecretKind, string>> = {
  seed: "the session's seed",
  id: "the session's id",
  control: 'its control handle',
  capability: 'an agent capability of it',
  declared: 'a text that the world declares to be secret',
}

export type OnError = (error: { readonly reference: string; readonly cause: unknown }) => void

/** Turns any error into `internal`, which holds only a reference to what `onError` is given. */
export function toInternalError(cause: unknown, onError: OnError): WireError {
  const reference = randomText()
  onError({ reference, cause })
  return internalError(reference)
}

function internalError(reference: string, cause?: Error): WireError {
  return new WireError('internal', `The server failed. Reference: ${reference}.`, { cause, details: { reference } })
}

/** Translates an error of a session or a store for the wire. Returns any other error unchanged. */
export function refusalOf(error: unknown): unknown {
  if (!StateError.is(error)) return error
  const { message, details } = error
  switch (error.code) {
    case 'session-not-found':
    case 'seq-conflict':
    case 'seq-reused':
    case 'fenced':
    case 'state-lost':
    case 'episode-ended':
    case 'not-your-turn':
    case 'outcome-unknown':
      return new WireError(error.code, message, { cause: error, details })
    case 'store-unavailable':
      // A store's own message names files and machines. It is for the log; the caller needs to know what to do.
      return new WireError(
        error.code,
        'What this server keeps its sessions in does not answer. Try again in a moment.',
        { cause: error },
      )
    case 'action-invalid':
    case 'event-invalid':
      return invalidParams(message, { cause: error })
    case 'event-too-large':
    case 'log-full':
      return new WireError('too-large', message, { cause: error, details })
    case 'events-full':
      return new WireError('rate-limited', message, { cause: error, details: { ...details, retryAfterSeconds: 1 } })
    case 'queue-full':
      return new WireError('rate-limited', message, { cause: error, details: { retryAfterSeconds: 1 } })
    default:
      return error
  }
}
