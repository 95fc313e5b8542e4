import { createRng, type Json, type JsonObject, type OutsideEvent, type Rng, type RngState } from '@episodic/protocol'
import type { SavableRng } from '@episodic/protocol/extend'
import type { History, SessionRecord, SessionState } from '@episodic/state'
import { ServerError } from '../server-error.ts'
import { findEventProblem } from './apply-event.ts'
import type { EnvironmentDefinition, PlayContext, Refused } from './environment.ts'
import type { PlayChecks } from './rules-turn.ts'
import { say } from './tool-answer.ts'

/** Events that one step may publish. */
const MOST_PUBLISHED = 16

/** An event that a tool publishes. */
export type ToolEvent = Pick<OutsideEvent, 'type' | 'data'>

/** The inputs of one tool call. */
export interface ToolCallSetup {
  readonly environment: EnvironmentDefinition
  /** The name of the tool. */
  readonly tool: string
  readonly record: Pick<SessionRecord, 'params' | 'seed' | 'rng' | 'now' | 'history'>
  readonly draft: SessionState
  readonly input: unknown
  readonly prepared: unknown
  /** Called with each value that the rules reveal. */
  readonly onReveal: PlayChecks['onReveal'] | undefined
  /** Default: the streams of the record. */
  readonly rng?: SavableRng | undefined
}

/** What a tool call did beside its change of the draft. */
export interface ToolCallEffects {
  /** The state of every random stream. */
  readonly rng: RngState
  /** Virtual time. */
  readonly now: number
  /** The reason for which the rules ended the episode; `null` if they did not. */
  readonly ended: string | null
  /** The events that were published, oldest first. */
  readonly published: readonly ToolEvent[]
}

/**
 * The context that a tool's `play` gets, which also records the effects of the call. A class, because building an
 * object with getters for each step costs more than the rules of a small world.
 */
export class ToolCallContext implements PlayContext<unknown, unknown, unknown, unknown, unknown> {
  readonly state: SessionState
  readonly input: unknown
  readonly prepared: unknown
  readonly params: JsonObject
  readonly history: History
  readonly say = say
  readonly refuse = refuse
  readonly #environment: EnvironmentDefinition
  readonly #tool: string
  readonly #record: ToolCallSetup['record']
  readonly #onReveal: ToolCallSetup['onReveal']
  #rng: SavableRng | null
  #now: number
  #ended: string | null = null
  #published: readonly ToolEvent[] = NO_EVENTS

  constructor({ environment, tool, record, draft, input, prepared, onReveal, rng }: ToolCallSetup) {
    this.state = draft
    this.input = input
    this.prepared = prepared
    this.params = record.params
    this.history = record.history
    this.#environment = environment
    this.#tool = tool
    this.#record = record
    this.#onReveal = onReveal
    this.#rng = rng ?? null
    this.#now = record.now
  }

  /** Created on first access: most steps of most worlds draw nothing. */
  get rng(): Rng {
    this.#rng ??= createRng(this.#record.seed, this.#record.rng)
    return this.#rng
  }

  get now(): number {
    return this.#now
  }

  /** Returns what the call did beside its change of the draft. */
  effects(): ToolCallEffects {
    const rng = this.#rng ? this.#rng.save() : this.#record.rng
    return { rng, now: this.#now, ended: this.#ended, published: this.#published }
  }

  // Rules destructure these from their context, so each is bound.
  readonly reveal = <T extends Json>(value: T): T => {
    this.#onReveal?.(value, null)
    return value
  }

  readonly publish = (type: string, data: unknown): void => {
    const tool = `Tool ${this.#tool} of ${this.#environment.name}`
    if (this.#published.length === MOST_PUBLISHED)
      throw new ServerError(
        'rules-failed',
        `${tool} published more than ${MOST_PUBLISHED} events in one step. Publish fewer, or one that says it all.`,
      )
    const problem = findEventProblem(this.#environment, { type, data })
    if (problem) throw new ServerError('rules-failed', `${tool} could not publish. ${problem}`)
    // A copy: the data may be part of the draft, which the rules may still change.
    this.#published = [...this.#published, { type, data: structuredClone(data) as JsonObject }]
  }

  readonly end = (reason: string): void => {
    this.#ended = reason
  }

  readonly elapse = (milliseconds: number): void => {
    if (!(milliseconds >= 0)) throw new RangeError(`elapse needs milliseconds from 0 up; it got ${milliseconds}.`)
    this.#now += milliseconds
  }
}

const NO_EVENTS: readonly never[] = []

const refuse = (text: string): Refused => ({ kind: 'refused', text })
