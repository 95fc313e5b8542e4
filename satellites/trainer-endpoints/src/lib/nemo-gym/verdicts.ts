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
export class Verdicts {
  readonly #sessions: RolloutSessions
  readonly #given: LRUCache<string, GivenVerdict>

  constructor(sessions: RolloutSessions, seconds: number) {
    this.#sessions = sessions
    this.#given = new LRUCache({ max: KEPT, ttl: seconds * 1_000 })
  }

  has(principal: string | null, handle: string): boolean {
    return this.#given.has(toRolloutKey(principal, handle))
  }

  /** Judges the session of a handle, once: for other calls than the first time, the verdict is void. */
  async of(principal: string | null, handle: string, claim: Claim): Promise<Verdict> {
    const key = toRolloutKey(principal, handle)
    const calls = canonicalJson(claim.calls.map((call) => ({ ...call })) as unknown as Json)
    const again = ({ calls: before, verdict }: GivenVerdict) => (before === calls ? verdict : voidVerdict(JUDGED))
    try {
      const known = this.#given.get(key)
      if (known) return again(known)
      const session = await this.#sessions.find(principal, handle)
      return await session.inTurn(async () => {
        const meanwhile = this.#given.get(key)
        if (meanwhile) return again(meanwhile)
        const verdict = await computeVerdict(session, claim)
        this.#given.set(key, { calls, verdict })
        this.#sessions.forget(principal, handle)
        return verdict
      })
    } catch (error) {
      return voidVerdict(failureOf(error))
    }
  }
}

const JUDGED = { kind: 'episodic:seq_conflict', reason: 'This episode was judged before, with other calls.' }
