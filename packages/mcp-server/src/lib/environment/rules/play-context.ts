import { type Attachment, createRng, type Json, type JsonObject, type OutsideEvent, type Rng } from '@episodic/protocol'
import {
  attachmentOf,
  copyPlain,
  isObject,
  type ResourceInText,
  type SavableRng,
  toBase64,
} from '@episodic/protocol/internal'
import type { Change, History, SessionState } from '@episodic/state'
import { rulesFailed } from '../../server-error.ts'
import type { Absence } from '../definition/absent-action.ts'
import type { EnvironmentDefinition, PlayContext, Refused, Said } from '../definition/environment.ts'
import type { MoveContext, SettleContext } from '../definition/game.ts'
import { findEventProblem } from './apply-event.ts'
import { endReason, namedSeats, type PlayChecks, playingSeats, type RulesTurn, sentTextProblem } from './rules-turn.ts'

const MOST_PUBLISHED = 16

const MOST_ATTACHMENTS = 16

export type ToolEvent = Pick<OutsideEvent, 'type' | 'data'>

export interface PlayCallSetup {
  readonly environment: EnvironmentDefinition
  readonly turn: Pick<RulesTurn, 'record' | 'draft'>
  /** What is called, as errors name it: `Tool take`. */
  readonly rule: string
  readonly seat: string
  readonly moved: readonly string[]
  readonly input?: unknown
  readonly prepared?: unknown
  /** Why the seat is absent, in the rules for that. */
  readonly cause?: Absence
  readonly checks: PlayChecks | undefined
}

/** What a call of the rules did beside its change of the draft. */
export interface PlayEffects extends Omit<Change, 'state'> {
  /** The reason for which the rules ended the episode for all seats; `null` if they did not. */
  readonly ended: string | null
  readonly left: { readonly [seat: string]: string }
  readonly messages: { readonly [seat: string]: readonly string[] }
  readonly published: readonly ToolEvent[]
  readonly attachments: readonly Attachment[]
}

interface ErasedState {
  public: JsonObject
  own: Record<string, JsonObject>
  private: JsonObject
}

/** What `play`, `settle` and `absent` get. A class: getters on an object a step cost more than a small world. */
export class PlayCall
  implements
    PlayContext<unknown, unknown, unknown, unknown, unknown>,
    MoveContext<string, ErasedState, unknown, unknown, unknown, unknown>,
    SettleContext<ErasedState, unknown, string>
{
  readonly seat: string
  readonly moved: readonly string[]
  readonly state: ErasedState
  readonly input: unknown
  readonly prepared: unknown
  readonly params: JsonObject
  readonly history: History
  readonly cause: Absence | undefined
  readonly say = say
  readonly refuse = refuse
  readonly #setup: PlayCallSetup
  #rng: SavableRng | null
  #now: number
  #ended: string | null = null
  #left: PlayEffects['left'] = NONE
  #messages: PlayEffects['messages'] = NONE
  #published: readonly ToolEvent[] = NO_EVENTS
  #attachments: readonly Attachment[] = NO_EVENTS

  constructor(setup: PlayCallSetup) {
    const { record, draft } = setup.turn
    this.seat = setup.seat
    this.moved = setup.moved
    this.state = draft as SessionState as ErasedState
    this.input = setup.input
    this.prepared = setup.prepared
    this.params = record.params
    this.history = record.history
    this.cause = setup.cause
    this.#setup = setup
    this.#rng = setup.checks?.rng ?? null
    this.#now = record.now
  }

  get others(): readonly string[] {
    return playingSeats(this.#setup.turn.record).filter((other) => other !== this.seat)
  }

  /** Created on first access: most steps of most worlds draw nothing. */
  get rng(): Rng {
    const { seed, rng } = this.#setup.turn.record
    this.#rng ??= createRng(seed, rng)
    return this.#rng
  }

  get now(): number {
    return this.#now
  }

  effects(): PlayEffects {
    const rng = this.#rng ? this.#rng.save() : this.#setup.turn.record.rng
    return {
      rng,
      now: this.#now,
      ended: this.#ended,
      left: this.#left,
      messages: this.#messages,
      published: this.#published,
      attachments: this.#attachments,
    }
  }

  // Rules destructure these from their context, so each is bound.
  readonly reveal = <T extends Json>(value: T, to?: string | readonly string[]): T => {
    this.#setup.checks?.onReveal?.(value, to === undefined ? null : this.#seats('reveal', to))
    return value
  }

  readonly send = (to: string | readonly string[], text: string): void => {
    const { environment } = this.#setup
    const problem = sentTextProblem(text)
    if (problem) throw rulesFailed(`A rule of ${environment.name} ${problem}.`)
    for (const seat of to === 'others' ? this.others : this.#seats('send', to))
      this.#messages = { ...this.#messages, [seat]: [...(this.#messages[seat] ?? []), text] }
  }

  readonly publish = (type: string, data: unknown): void => {
    const { environment, rule } = this.#setup
    const what = `${rule} of ${environment.name}`
    if (this.#published.length === MOST_PUBLISHED)
      throw rulesFailed(
        `${what} published more than ${MOST_PUBLISHED} events in one step. Publish fewer, or one that says it all.`,
      )
    const problem = findEventProblem(environment, { type, data })
    if (problem) throw rulesFailed(`${what} could not publish. ${problem}`)
    // A copy: the data may be part of the draft, which the rules may still change.
    this.#published = [...this.#published, { type, data: copyPlain(data) as JsonObject }]
  }

  readonly attach = (data: Uint8Array | string, mimeType?: string, uri?: string): void => {
    const { environment, rule } = this.#setup
    const what = `${rule} of ${environment.name}`
    if (this.#attachments.length === MOST_ATTACHMENTS)
      throw rulesFailed(`${what} attached more than ${MOST_ATTACHMENTS} pictures, sounds and files.`)
    const attachment = attachmentOf(typeof data === 'string' ? data : toBase64(data), mimeType, uri)
    if (!attachment)
      throw rulesFailed(
        `${what} attached what is no picture or sound. Give bytes or base64 of PNG, JPEG, GIF, WebP, WAV or MP3, or name its type, such as image/svg+xml. A file of another kind needs a URI.`,
      )
    this.#attachments = [...this.#attachments, attachment]
  }

  readonly leave = (seat: string, reason: string): void => {
    this.#seats('leave', seat)
    if (this.#left[seat] === undefined) this.#left = { ...this.#left, [seat]: endReason('leave', reason) }
  }

  readonly end = (reason: string): void => {
    this.#ended = endReason('end', reason)
  }

  readonly elapse = (milliseconds: number): void => {
    if (!(milliseconds >= 0)) throw new RangeError(`elapse needs milliseconds from 0 up; it got ${milliseconds}.`)
    this.#now += milliseconds
  }

  #seats(what: string, named: string | readonly string[]): readonly string[] {
    return namedSeats(this.#setup.environment, this.#setup.turn.record, what, named)
  }
}

const NONE: Readonly<Record<string, never>> = {}
const NO_EVENTS: readonly never[] = []

const refuse = (text: string): Refused => ({ kind: 'refused', text })

function say(text: unknown, data?: unknown): Said<unknown> {
  return data === undefined && isObject(text)
    ? { kind: 'said', text: '', data: text }
    : { kind: 'said', text: text as string, data }
}

/** Returns an answer whose text has resources of MCP in it. For environments that are made of other servers. */
export function sayResources<Data>(
  text: string,
  data: Data,
  resources: readonly ResourceInText[] | undefined,
): Said<Data> {
  return { kind: 'said', text, data, ...(resources && { resources }) }
}

export function isRefused(answer: unknown): answer is Refused {
  const { kind, text } = (answer ?? {}) as Partial<Refused>
  return kind === 'refused' && typeof text === 'string'
}
