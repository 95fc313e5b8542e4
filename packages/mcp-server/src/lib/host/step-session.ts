import type { EpisodeEnd, MethodResult, OutsideEvent } from '@episodic/protocol'
import type { Answered, Clock, SessionRecord } from '@episodic/state'
import { assertEvent, assertEventId } from '../environment/apply-event.ts'
import { declaredAction } from '../environment/declared-action.ts'
import type { PlayOutcome } from '../environment/play-action.ts'
import type { EndedEpisode, RulesRunner } from '../environment/rules-runner.ts'
import type { Faults } from './faults.ts'
import type { StepCall, StepOutcome } from './host.ts'
import type { Metrics, StepStatus } from './metrics.ts'
import { afterEffect, createPreparation, toPrepare } from './prepare-step.ts'
import { reportWaiting } from './report-waiting.ts'
import type { CachedSession, SessionCache } from './session-cache.ts'

export interface SessionWriterOptions {
  readonly sessions: Pick<SessionCache, 'use'>
  readonly rules: Pick<RulesRunner, 'play' | 'apply' | 'judge'>
  readonly clock: Clock
  readonly faults: Faults
  readonly metrics: Metrics | undefined
}

/** How a session was closed. */
interface Closed {
  readonly end: EpisodeEnd
  /** The episode as it was when closing ended it; `null` where it had ended before. */
  readonly final: EndedEpisode | null
}

/**
 * What changes a session in hand: a step, an event from outside, a closing. Each has its turn in the session's queue, is
 * answered once it is committed, and wakes those who watch the session.
 */
export class SessionWriter {
  readonly #sessions: Pick<SessionCache, 'use'>
  readonly #rules: Pick<RulesRunner, 'play' | 'apply' | 'judge'>
  readonly #clock: Clock
  readonly #faults: Faults
  readonly #metrics: Metrics | undefined

  constructor({ sessions, rules, clock, faults, metrics }: SessionWriterOptions) {
    this.#sessions = sessions
    this.#rules = rules
    this.#clock = clock
    this.#faults = faults
    this.#metrics = metrics
  }

  /** Plays a call of a seat as the next step, or gives again what that step came to. */
  async step(cached: CachedSession, seat: string, call: StepCall): Promise<StepOutcome> {
    const { environment } = cached
    const { seq, epoch, waiting } = call
    const action = declaredAction(environment, call.action)
    const began = this.#metrics ? this.#clock.monotonic() : 0
    const needed = toPrepare(environment, action)
    const inQueue = waiting && cached.session.busy ? waiting.signal : undefined
    const stopReporting = inQueue
      ? reportWaiting(this.#clock, waiting, 'Waiting for the calls before this one.')
      : undefined
    let acts = false
    const answered = this.#sessions.use(cached, (session) =>
      session.step(
        { seat, action, seq, epoch },
        (turn) => {
          stopReporting?.()
          assertSound(cached)
          // What has been done outside is played, whoever waits for it.
          if (turn.prepared === undefined) inQueue?.throwIfAborted()
          return this.#told(
            cached,
            call,
            this.#faults.guard(
              environment.name,
              turn.record.id,
              () => this.#rules.play(environment, turn, action, waiting),
              waiting,
            ),
          )
        },
        needed
          ? () => {
              stopReporting?.()
              assertSound(cached)
              inQueue?.throwIfAborted()
              acts = needed.preparation.external
              return createPreparation(environment, call, needed, { clock: this.#clock, faults: this.#faults })
            }
          : undefined,
      ),
    )
    if (stopReporting) answered.then(stopReporting, stopReporting)
    const { step, replayed } = await (needed
      ? answered.catch((error) => {
          throw acts ? afterEffect(action.tool, error) : error
        })
      : answered)
    cached.watchers.wake()
    this.#metrics?.step(environment.name, outcomeOf({ step, replayed }), this.#clock.monotonic() - began)
    return { step, replayed, secrets: cached.secrets }
  }

  /** Applies an outside event once. Nobody waits for it any more where `signal` is aborted before its turn. */
  async publish(
    cached: CachedSession,
    event: OutsideEvent,
    signal: AbortSignal | undefined,
  ): Promise<MethodResult<'publish'>> {
    const { environment, session } = cached
    assertEventId(event.id)
    assertEvent(environment, event)
    const { id } = session.record
    const result = await this.#sessions.use(cached, () =>
      session.publish(event, (turn) => {
        assertSound(cached)
        signal?.throwIfAborted()
        return this.#faults.guard(environment.name, id, () => this.#rules.apply(environment, turn, event))
      }),
    )
    cached.watchers.wake()
    return result
  }

  /** Ends the episode as closed, where `when` says so of the record, and gives the end that then holds. */
  async close(cached: CachedSession, when: (record: SessionRecord) => boolean): Promise<Closed> {
    const closed = { kind: 'truncated', reason: 'closed' } as const
    let ended = false
    const { end, state, params } = await this.#sessions.use(cached, (session) =>
      session.advance(({ record }) => {
        ended = when(record)
        return ended ? { end: closed } : null
      }),
    )
    cached.watchers.wake()
    return { end: end ?? closed, final: ended ? { end: closed, state, params } : null }
  }

  /** Judges an episode that closing has ended; `undefined` where its world defines no success. */
  async judge({ environment, session }: CachedSession, final: EndedEpisode): Promise<boolean | undefined> {
    return this.#faults.guard(environment.name, session.record.id, () => this.#rules.judge(environment, final))
  }

  /** Takes note of what a tool said and nobody was told. */
  #told(
    cached: CachedSession,
    call: StepCall,
    outcome: PlayOutcome | Promise<PlayOutcome>,
  ): PlayOutcome | Promise<PlayOutcome> {
    if (outcome instanceof Promise) return outcome.then((settled) => this.#told(cached, call, settled))
    const { environment, session } = cached
    if (outcome.undeclared !== undefined)
      this.#faults.dropped(environment.name, session.record.id, call.action.tool, outcome.undeclared)
    return outcome
  }
}

/** Throws what a session refuses its further steps with, where something of it has failed. */
function assertSound({ failure }: CachedSession): void {
  if (failure) throw failure
}

function outcomeOf({ step, replayed }: Answered): StepStatus {
  if (replayed) return 'replayed'
  return step.report.refused === null ? 'played' : 'refused'
}
