import {
  type LegalActions,
  type LoggedStep,
  type MethodResult,
  type OpenResult,
  type SeatsReport,
  type SessionSnapshot,
  WireError,
} from '@episodic/protocol'
import type { StepCall, StepOutcome, TrainerSessionRef, TurnQuery } from '../host.ts'
import type { CachedSession } from '../sessions/session-cache.ts'
import { legalOfSeat, turnOfSeat } from '../watch/turn-of-seat.ts'
import { ResolvedSession } from './session-ref.ts'

/** The session of a seat handle, for a trainer of one seat: what that seat sees and earns, and no more. */
export class SeatSession extends ResolvedSession implements TrainerSessionRef {
  override async step(call: StepCall): Promise<StepOutcome> {
    const outcome = await Promise.resolve(super.step(call)).catch(notOwnTurn)
    return { ...outcome, step: ownPart(outcome.step) }
  }

  async turn({ seat: named, ...range }: TurnQuery): Promise<MethodResult<'turn'>> {
    const cached = await this.find()
    const seat = this.seatIn(cached, named)
    const result = await turnOfSeat(cached, { ...range, seat }, this.parts)
    return { ...result, turn: ownTurn(result.turn, seat), revision: result.seq }
  }

  async leave(named: string): Promise<MethodResult<'leave'>> {
    const cached = await this.find()
    const seat = this.seatIn(cached, named)
    await this.parts.writer.leave(cached, seat).catch(notOwnTurn)
    return this.turn({ seat, wait: 0 })
  }

  async legal(named?: string): Promise<LegalActions> {
    const cached = await this.find()
    return legalOfSeat(cached, this.seatIn(cached, named), this.parts)
  }

  async state(): Promise<MethodResult<'state'>> {
    throw notForASeat('read the state of')
  }

  async watch(): Promise<MethodResult<'watch'>> {
    throw notForASeat('watch')
  }

  async snapshot(): Promise<SessionSnapshot> {
    throw notForASeat('take a snapshot of')
  }

  async fork(): Promise<readonly OpenResult[]> {
    throw notForASeat('fork')
  }

  override async publish(): Promise<MethodResult<'publish'>> {
    throw notForASeat('publish to')
  }

  override async close(): Promise<MethodResult<'close'>> {
    throw notForASeat('close')
  }

  protected override seatIn(cached: CachedSession, named?: string): string {
    const seat = super.seatIn(cached)
    if (named === undefined || named === seat) return seat
    throw new WireError('unauthorized', `This handle plays the seat ${seat}, and the request names ${named}.`)
  }
}

function notForASeat(what: string): WireError {
  return new WireError('unauthorized', `A seat handle plays one seat. To ${what} a session, use its control handle.`)
}

/** Rethrows an error without whose turn it is instead: while a round is sealed, that says who has moved. */
function notOwnTurn(error: unknown): never {
  if (!WireError.is(error, 'not-your-turn')) throw error
  throw new WireError(
    'not-your-turn',
    'It is not the turn of this seat. Nothing was played, and nothing is counted. Wait for its turn.',
    { details: { turn: [] } },
  )
}

/**
 * Returns a step as one seat may know it: without what others see, earn and were sent, without who else has still to
 * move or has moved, which commits of others would tell, without the events, whose data may be for others and whose
 * texts are among its messages, and without the hash of the state, with which a guess at hidden state could be checked.
 */
function ownPart({ report: { events: _, ...report }, published: __, ...step }: LoggedStep): LoggedStep {
  const { turn = [], ends, due, messages, sealed } = report.seats ?? {}
  const end = ends?.[step.seat]
  const seats: SeatsReport = {
    turn: ownTurn(turn, step.seat),
    ...(end && { ends: { [step.seat]: end } }),
    views: {},
    ...(due && { due }),
    ...(messages && { messages }),
    ...(sealed && { sealed }),
  }
  return { ...step, report: { ...report, revision: report.seq, stateHash: '', seats } }
}

/** Who has moved in a round is not for other seats to know. */
function ownTurn(turn: readonly string[], seat: string): readonly string[] {
  return turn.includes(seat) ? [seat] : []
}
