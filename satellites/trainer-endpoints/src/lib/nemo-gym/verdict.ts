import { type EpisodeEnd, WireError } from '@episodic/protocol'
import { readSteps } from '../episode/read-steps.ts'
import { type Failure, failureOf } from './failure-kind.ts'
import { type FunctionCall, spokenCall } from './function-calls.ts'
import { isPlayedOnce } from './played-once.ts'
import type { RolloutSession } from './rollout-session.ts'
import { type Tally, withStep } from './tally.ts'

export interface Verdict {
  readonly tally: Pick<Tally, 'played' | 'terms' | 'reward'>
  readonly end: EpisodeEnd | null
  readonly success: boolean | undefined
  readonly failure: Failure | null
}

export function voidVerdict(failure: Failure): Verdict {
  return { tally: { played: 0, terms: {}, reward: 0 }, end: null, success: undefined, failure }
}

export interface Claim {
  readonly played: number
  readonly calls: readonly FunctionCall[]
  /** What the model said last, which is its last move where words are one. */
  readonly words: string
  readonly incomplete: boolean
  readonly failure: Failure | null
}

export async function computeVerdict(session: RolloutSession, claim: Claim): Promise<Verdict> {
  const { ref } = session
  const spoken = spokenCall(claim.words, session.tools)
  // An earlier process may have played it, and have been lost with its verdict.
  const known = spoken !== null && session.isLast(spoken)
  const claimed = known ? { ...claim, calls: [...claim.calls, spoken] } : claim
  const failure = session.failure ?? claim.failure ?? (await findMismatch(session, claimed))
  let { tally } = session
  try {
    if (spoken && !known && failure === null && !tally.end) await session.play(spoken)
    tally = session.tally
    const { end, success, step } = await ref.close(true)
    // The world has judged in it what the model left; the model has not played it.
    if (step && step.report.seq > tally.played) tally = { ...withStep(tally, step), played: tally.played }
    const stop = failure === null ? stopOf(session, end, claim) : null
    // As in the lines of a run, a player that stopped has not succeeded, whatever the world says of its state.
    if (stop) return { tally, end: stop, success: success === undefined ? undefined : false, failure }
    return { tally, end: tally.end ?? end, success: tally.success ?? success, failure }
  } catch (error) {
    // What has ended needs no closing to be known.
    const isKnown = tally.end !== null && WireError.is(error, 'store-unavailable')
    return { tally, end: tally.end, success: tally.success, failure: failure ?? (isKnown ? null : failureOf(error)) }
  }
}

/** How an episode ended that was closed before any step, as the lines of a run name it; `null` for another one. */
function stopOf({ tally }: RolloutSession, end: EpisodeEnd | null, { calls }: Claim): EpisodeEnd | null {
  if (tally.played > 0 || end?.kind !== 'truncated' || end.reason !== 'closed') return null
  return { kind: 'truncated', reason: calls.length === 0 ? 'no-action' : 'invalid-action' }
}

/**
 * Returns the body of the answer: the request's own, the reward, and a number for each term. The request is passed on
 * as it came, because a trajectory is long. Where a name is there twice, the last one counts, as in every parser of
 * JSON: a member of the row before a term of that name, and the reward before both.
 */
export function verdictBody(request: string, { tally, end, success, failure }: Verdict): string {
  const { reward, terms, played } = tally
  const numbers = {
    ...terms,
    steps: played,
    terminated: Number(end?.kind === 'terminated'),
    truncated: Number(end?.kind === 'truncated'),
    ...(success !== undefined && { success: Number(success) }),
  }
  const judgement = {
    reward,
    reward_components: { ...terms },
    end_reason: end?.reason ?? null,
    mask_sample: failure !== null,
    failure_kind: failure?.kind ?? null,
    failure_reason: failure?.reason ?? null,
  }
  return `{${[JSON.stringify(numbers), request, JSON.stringify(judgement)].map(membersOf).join(',')}}`
}

function membersOf(text: string): string {
  return text.slice(text.indexOf('{') + 1, text.lastIndexOf('}'))
}

async function findMismatch(session: RolloutSession, claim: Claim): Promise<Failure | null> {
  const { ref, tally, tools } = session
  if (claim.played > tally.played) return { kind: 'session_lost', reason: 'The store lost steps of this session.' }
  const doubtful = session.doubtful || claim.played !== tally.played
  // A client that has every answer need not send its calls.
  if (claim.calls.length === 0 && !doubtful) return null
  const { calls, incomplete } = claim
  const steps = await readSteps(ref)
  if (isPlayedOnce({ calls, incomplete, steps, tools, ended: tally.end !== null, doubtful })) return null
  return { kind: 'transport_peer_drop', reason: 'The calls of the trajectory are not the steps that were played.' }
}
