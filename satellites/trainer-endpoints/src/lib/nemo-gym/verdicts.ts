import { canonicalJson, type Json } from '@episodic/protocol'
import { LRUCache } from 'lru-cache'
import { failureOf } from './failure-kind.ts'
import { type RolloutSessions, toRolloutKey } from './rollout-session.ts'
import { type Claim, computeVerdict, type Verdict, voidVerdict } from './verdict.ts'

interface GivenVerdict {
  readonly calls: string
  readonly verdict: Verdict
}

const KEPT = 10_000

/** The verdicts of one endpoint. Each is kept for a client whose answer got lost and that asks again. */
export function createVerdicts(sessions: RolloutSessions, seconds: number) {
  const given = new LRUCache<string, GivenVerdict>({ max: KEPT, ttl: seconds * 1_000 })
  return {
    has(principal: string | null, handle: string): boolean {
      return given.has(toRolloutKey(principal, handle))
    },
    /** Judges the session of a handle, once: for other calls than the first time, the verdict is void. */
    async of(principal: string | null, handle: string, claim: Claim): Promise<Verdict> {
      const key = toRolloutKey(principal, handle)
      const calls = canonicalJson(claim.calls.map((call) => ({ ...call })) as unknown as Json)
      const again = ({ calls: before, verdict }: GivenVerdict) => (before === calls ? verdict : voidVerdict(JUDGED))
      try {
        const known = given.get(key)
        if (known) return again(known)
        const session = await sessions.find(principal, handle)
        return await session.inTurn(async () => {
          const meanwhile = given.get(key)
          if (meanwhile) return again(meanwhile)
          const verdict = await computeVerdict(session, claim)
          given.set(key, { calls, verdict })
          sessions.forget(principal, handle)
          return verdict
        })
      } catch (error) {
        return voidVerdict(failureOf(error))
      }
    },
  }
}

const JUDGED = { kind: 'episodic:seq_conflict', reason: 'This episode was judged before, with other calls.' }
