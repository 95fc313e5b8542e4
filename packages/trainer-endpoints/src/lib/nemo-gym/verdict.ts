import { type EpisodeEnd, type JsonObject, WireError } from '@episodic/protocol'
import { type Failure, failureOf } from './failure-kind.ts'
import { type FunctionCall, isPlayedOnce } from './function-calls.ts'
import type { RolloutSession } from './rollout-session.ts'
import { readSteps, type Tally } from './tally.ts'

/** What `verify` says of an episode. */
export interface Verdict {
  readonly tally: Pick<Tally, 'played' | 'terms' | 'reward'>
  readonly end: EpisodeEnd | null
  readonly success: boolean | undefined
  /** Why the reward is not valid; `null` if it is. */
  readonly failure: Failure | null
}

/** Returns the verdict on a session that cannot be found, for the error of looking for it. */
export function lostVerdict(error: unknown): Verdict {
  return { tally: { played: 0, terms: {}, reward: 0 }, end: null, success: undefined, failure: failureOf(error) }
}

/** What a client says of an episode that it wants to have verified. */
export interface Claim {
  /** Steps that it had been answered, by its cookie. */
  readonly played: number
  readonly calls: readonly FunctionCall[]
  /** A failure that an answer reported to it. */
  readonly failure: Failure | null
}

/** Closes a session and returns the verdict on its episode. */
export async function judgeRollout(session: RolloutSession, claim: Claim): Promise<Verdict> {
  const { ref, tally } = session
  const failure = session.failure ?? claim.failure ?? (await mismatchOf(session, claim))
  try {
    const { end, success } = await ref.close()
    return { tally, end: tally.end ?? end, success: tally.success ?? success, failure }
  } catch (error) {
    // What has ended needs no closing to be known.
    const known = tally.end !== null && WireError.is(error, 'store-unavailable')
    return { tally, end: tally.end, success: tally.success, failure: failure ?? (known ? null : failureOf(error)) }
  }
}

/** Returns the body of the answer: the request's own, the reward, and a number for each term. */
export function verdictBody(body: JsonObject, { tally, end, success, failure }: Verdict): JsonObject {
  const { reward, terms, played } = tally
  return {
    ...terms,
    steps: played,
    terminated: Number(end?.kind === 'terminated'),
    truncated: Number(end?.kind === 'truncated'),
    ...(success !== undefined && { success: Number(success) }),
    ...body,
    reward,
    reward_components: { ...terms },
    mask_sample: failure !== null,
    failure_kind: failure?.kind ?? null,
    failure_reason: failure?.reason ?? null,
  }
}

/** Returns a failure if the client's answers may not be those that were played, and its trajectory does not match. */
async function mismatchOf(session: RolloutSession, claim: Claim): Promise<Failure | null> {
  const { ref, tally, doubtful, returnsCookies } = session
  if (claim.played > tally.played) return { kind: 'session_lost', reason: 'The store lost steps of this session.' }
  if (!doubtful && (!returnsCookies || claim.played === tally.played)) return null
  const steps = await readSteps(ref)
  const actions = steps.map(({ action }) => action)
  if (isPlayedOnce(claim.calls, actions, tally.end !== null)) return null
  return {
    kind: 'transport_peer_drop',
    reason: 'A connection broke, and the calls of the trajectory are not the steps that were played.',
  }
}
