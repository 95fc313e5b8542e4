import { type EpisodeEnd, type LoggedStep, type MethodResult, type OutsideEvent, WireError } from '@episodic/protocol'
import type { PlayedStep, SessionRecord } from '@episodic/state'
import type { Secrets } from '../../environment/answer/secrets.ts'
import { absenceAction, judgesLeft } from '../../environment/definition/absent-action.ts'
import { isOffered } from '../../environment/definition/offered-tools.ts'
import { assertEvent, assertEventId } from '../../environment/rules/apply-event.ts'
import type { EndedEpisode } from '../../environment/rules/conclude-step.ts'
import { toPrepare } from '../../environment/rules/prepare-step.ts'
import type { PlayOutcome } from '../../environment/rules/rules-turn.ts'
import type { HostOptions, StepCall, StepOutcome } from '../host.ts'
import type { Metrics } from '../operate/metrics.ts'
import type { AtOnce, CachedSession, SessionCache, SessionCacheOptions } from '../sessions/session-cache.ts'
import type { TurnFeed } from '../sessions/turn-feed.ts'
import { afterEffect, createPreparation, reportWaiting } from './prepare-session-step.ts'
import { assertMayLeave, isAbsent, type RecordCheck, settleAbsent } from './settle-absent-seats.ts'

export interface SessionWriterOptions extends Pick<SessionCacheOptions, 'clock' | 'faults'> {
  readonly sessions: Pick<SessionCache, 'use' | 'used' | 'failed' | 'drop'>
  readonly metrics: Metrics | undefined
  readonly turns: Pick<TurnFeed, 'notify'>
  readonly onLeft: HostOptions['onLeft']
}

interface Closed {
  readonly end: EpisodeEnd
  /** The episode that closing ended; `null` if it had ended before. */
  readonly final: EndedEpisode | null
}

export type SessionWriter = ReturnType<typeof createSessionWriter>

/** Changes cached sessions. A change waits in the session's queue, is committed, and wakes the watchers. */
export function createSessionWriter(options: SessionWriterOptions) {
  return {
    /**
     * Plays a call of a seat, with a declared action, as its next step, or returns the stored answer of that step. If
     * there are several seats, the server first takes the steps of those whose time is over.
     */
    step(cached: CachedSession, seat: string, call: StepCall): AtOnce<StepOutcome> {
      return cached.environment.multiplayer ? move(cached, seat, call) : play(cached, seat, call)
    },
    settleAbsent: settle,
    async leave(cached: CachedSession, seat: string): Promise<void> {
      assertMayLeave(cached.environment)
      const { seats } = await options.sessions.use(cached, (session) => session.refresh())
      await play(cached, seat, { action: absenceAction('left'), seq: seats[seat]?.seq })
    },
    /** Applies an outside event once. Rejects with the reason of `signal` if that is aborted before its turn. */
    async publish(
      cached: CachedSession,
      event: OutsideEvent,
      signal: AbortSignal | undefined,
    ): Promise<MethodResult<'publish'>> {
      const { environment, rules } = cached
      assertEventId(event.id)
      assertEvent(environment, event)
      const result = await options.sessions.use(cached, (session) =>
        session.publish(event, (turn) => {
          if (cached.failure) throw cached.failure
          signal?.throwIfAborted()
          return rules.apply(turn, event)
        }),
      )
      cached.watchers?.wake()
      return result
    },
    /**
     * Whether a session that nobody plays on is to be judged: of one that was only opened, there is nothing to
     * judge.
     */
    isLeft({ environment, session: { record } }: CachedSession): boolean {
      if (!judgesLeft(environment) || record.end) return false
      const seat = environment.seats[0] as string
      return (record.seats[seat]?.seq ?? 0) > (record.base?.seats[seat]?.seq ?? 0)
    },
    /**
     * Calls the tool for the only player of a session when it has left. Resolves with the step, which has ended the
     * episode, also if it was taken before: the client that closes the session may ask again. Resolves with `null`
     * without such a tool, and if the episode ended otherwise.
     */
    async judgeLeft(cached: CachedSession): Promise<LoggedStep | null> {
      const { environment, session } = cached
      if (!judgesLeft(environment)) return null
      const { end, seats } = await options.sessions.use(cached, () => session.refresh())
      const seat = environment.seats[0] as string
      const seq = seats[seat]?.seq ?? 0
      if (end) return seq > 0 ? leftBefore(cached, seat, seq - 1) : null
      const { step } = await play(cached, seat, { action: absenceAction('left'), seq })
      options.onLeft?.({ environment: environment.name, session: session.record.id, step })
      return step
    },
    async close(cached: CachedSession, when: (record: SessionRecord) => boolean): Promise<Closed> {
      const closed = { kind: 'truncated', reason: 'closed' } as const
      let ended = false
      const { end, state, params, history } = await options.sessions.use(cached, (session) =>
        session.advance(({ record }) => {
          ended = when(record)
          return ended ? { end: closed } : null
        }),
      )
      cached.watchers?.wake()
      options.sessions.drop(cached)
      const seat = cached.environment.seats[0] as string
      return { end: end ?? closed, final: ended ? { end: closed, state, params, history, seat } : null }
    },
  }

  async function move(cached: CachedSession, seat: string, call: StepCall): Promise<StepOutcome> {
    const { environment } = cached
    // A move that came in time is played, even if it then waits for the calls before it.
    const came = options.clock.now()
    for (;;) {
      await settle(cached)
      let early = false
      try {
        return await play(cached, seat, call, (record) => {
          early = isAbsent(record, environment, came)
          if (early) throw new WireError('not-your-turn', 'The step of an absent seat comes first.')
        })
      } catch (error) {
        if (!early) throw error
      }
    }
  }

  function settle(cached: CachedSession): Promise<void> {
    return settleAbsent(
      cached,
      () => options.clock.now(),
      async (seat, call, check) => play(cached, seat, call, check),
    )
  }

  /** Plays a step, unless `check` throws for the record that it would be committed on. */
  function play(cached: CachedSession, seat: string, call: StepCall, check?: RecordCheck): AtOnce<StepOutcome> {
    const { session, environment, rules } = cached
    const { action, seq, epoch, waiting } = call
    const began = options.metrics ? options.clock.monotonic() : 0
    const queued = waiting && session.busy ? waiting : undefined
    const calledOff = queued?.signal
    const stopReporting =
      queued && reportWaiting(options.clock, queued.report, 'Waiting for the calls before this one.')
    const begin = () => {
      stopReporting?.()
      if (cached.failure) throw cached.failure
    }
    const { absent } = environment
    const needed =
      (absent?.preparation ?? environment.tools[action.tool]?.preparation) && toPrepare(environment, action)
    const late = absent?.preparation && toPrepare(environment, absenceAction('left'))
    let acts = false
    const answered = session.step(
      { seat, action, seq, epoch },
      (turn) => {
        begin()
        // The preparation may have had an effect outside, so a prepared step is played even if its caller is gone.
        if (turn.prepared === undefined) {
          check?.(turn.record)
          calledOff?.throwIfAborted()
        }
        return rules.play(turn, action)
      },
      needed || late
        ? (isLate) => {
            const preparation = isLate ? late : needed
            if (!preparation) return null
            begin()
            const isTool = !isLate && Object.hasOwn(environment.tools, action.tool)
            if (isTool && !rules.guard(() => isOffered(environment, session.record, seat, action.tool))) return null
            check?.(session.record)
            calledOff?.throwIfAborted()
            acts = preparation.preparation.external
            return createPreparation(seat, call, preparation, { clock: options.clock, rules })
          }
        : undefined,
    )
    if (!(answered instanceof Promise)) return outcome(cached, seat, answered, began)
    return answered.then(
      (waited) => {
        stopReporting?.()
        // A commit has marked the session in the store, too.
        const marking = waited.replayed ? options.sessions.used(cached) : null
        return marking ? marking.then(() => outcome(cached, seat, waited, began)) : outcome(cached, seat, waited, began)
      },
      (error) => {
        stopReporting?.()
        const failure = options.sessions.failed(cached, error)
        throw acts ? afterEffect(action.tool, failure) : failure
      },
    )
  }

  /** Returns the outcome of an answered step, and lets all know of it that have to. */
  function outcome(cached: CachedSession, seat: string, answered: PlayedStep<PlayOutcome>, began: number): StepOutcome {
    const { session, environment, secrets } = cached
    const { step, replayed, played } = answered
    cached.touched = options.clock.monotonic()
    if (played?.undeclared !== undefined)
      options.faults.dropped(environment.name, session.record.id, step.action.tool, played.undeclared)
    cached.watchers?.wake()
    if (step.report.end && session.record.end) options.sessions.drop(cached)
    if (environment.multiplayer) options.turns.notify(cached)
    const status = replayed ? 'replayed' : step.report.refused === null ? 'played' : 'refused'
    options.metrics?.step(environment.name, status, options.clock.monotonic() - began)
    const messages = step.report.seats?.messages?.slice(cached.shown?.get(seat) ?? 0) ?? NONE
    cached.shown?.delete(seat)
    return { step, replayed, secrets: secrets[seat] as Secrets, messages }
  }

  /** Resolves with the step after `seq` answered ones if the server took it for a player that had left. */
  async function leftBefore(cached: CachedSession, seat: string, seq: number): Promise<LoggedStep | null> {
    try {
      return (await play(cached, seat, { action: absenceAction('left'), seq })).step
    } catch (error) {
      if (WireError.is(error, 'seq-reused')) return null
      throw error
    }
  }
}

const NONE: readonly never[] = []
