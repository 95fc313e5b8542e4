import type { LegalActions, MethodResult } from '@episodic/protocol'
import { judgementOf } from '@episodic/protocol/internal'
import type { Clock, SessionRecord } from '@episodic/state'
import { isEndUnreported } from '@episodic/state/internal'
import type { TurnQuery } from '../host.ts'
import type { CachedSession, SessionCache } from '../sessions/session-cache.ts'
import { pollUntil } from '../sessions/watchers.ts'
import type { SessionWriter } from '../steps/step-session.ts'

export interface TurnSetting {
  readonly writer: Pick<SessionWriter, 'settleAbsent'>
  readonly sessions: Pick<SessionCache, 'use'>
  readonly clock: Clock
  /** Ends all waits once it is aborted and the watchers are woken. */
  readonly stopping: AbortSignal
}

/**
 * Waits until a seat may act or its episode is over, and returns what it knows; see `environment/turn`. Changes nothing
 * but that it takes the steps of absent seats, so it gives the same again until the seat's next step, as far as others
 * have not moved since.
 */
export async function turnOfSeat(
  cached: CachedSession,
  { seat, wait, signal }: TurnQuery,
  { sessions, writer, clock, stopping }: TurnSetting,
): Promise<MethodResult<'turn'>> {
  const findTurn = async (isLast: boolean) => {
    await sessions.use(cached, (session) => session.refresh())
    await writer.settleAbsent(cached)
    const { record } = cached.session
    return isLast || isWaitOver(record, seat) ? toTurn(record) : null
  }
  const turn = await pollUntil(cached, findTurn, { clock, wait, signals: [signal, stopping] })
  return turn as MethodResult<'turn'>

  async function toTurn(record: SessionRecord): Promise<MethodResult<'turn'>> {
    const { state, params, seats, revision, turn: inTurn = [seat] } = record
    const end = endOf(record)
    const { observation, potential } = await cached.rules.observe(state, params, seat)
    const { seq, due = {}, messages = [], end: ownEnd = end, ...judged } = seats[seat] as SessionRecord['seats'][string]
    const turn = end ? [] : inTurn
    return {
      mine: turn.includes(seat),
      turn,
      observation,
      messages,
      due,
      potential,
      end: ownEnd,
      ...judgementOf(judged),
      seq,
      revision,
    }
  }
}

/** Returns how the episode ended. One that an event has ended goes on for the seat that reports it by its next step. */
function endOf(record: SessionRecord): SessionRecord['end'] {
  return record.turn && isEndUnreported(record) ? null : record.end
}

function isWaitOver(record: SessionRecord, seat: string): boolean {
  const { turn, seats } = record
  return endOf(record) !== null || seats[seat]?.end !== undefined || !turn || turn.includes(seat)
}

export async function legalOfSeat(
  cached: CachedSession,
  seat: string,
  { sessions }: Pick<TurnSetting, 'sessions'>,
): Promise<LegalActions> {
  const { end, turn, state, params } = await sessions.use(cached, (session) => session.refresh())
  if (end || turn?.includes(seat) === false) return {}
  return cached.rules.legal(state, params, seat)
}
