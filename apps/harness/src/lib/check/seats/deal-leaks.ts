import type { JsonObject } from '@episodic/protocol'
import type { Setting } from '../check-context.ts'
import { type Deal, hiddenFrom } from '../deal.ts'
import type { Finding } from '../finding.ts'
import type { SeededStart } from '../private-pairs.ts'
import { findInitialStateLeaks, type InitialStateLeak } from '../secrecy/initial-state-leaks.ts'

/** What is compared of a deal: a part that somebody sees, and a part that they must not know. */
type Compared = Pick<SeededStart, 'public' | 'private'>

/**
 * Finds what is hidden from a seat and follows from what it sees at the start: from the public state, or from its own
 * part. Each is reported once for all settings.
 */
export function findDealLeaks(settings: readonly Setting[], allDeals: readonly (readonly Deal[])[]): Finding[] {
  const found = new Map<string, Finding>()
  for (const [i, deals] of allDeals.entries()) {
    const again = `params ${JSON.stringify(settings[i]?.params)}, seeds ${deals
      .slice(0, 3)
      .map(({ seed }) => seed)
      .join(', ')}`
    const note = ({ feature, private: path, reveals }: InitialStateLeak, seen: string) => {
      const name = `start-reveals:${path}` as const
      const verb = reveals === 'all' ? 'determines' : 'is determined by'
      if (found.has(name)) return
      found.set(name, {
        name,
        what: `In the initial state, ${feature.replace('public', seen)} ${verb} ${path}.`,
        again,
        advice:
          'Keep it in the part of the state that it belongs to, and reveal(…) what a seat is meant to learn. If seats are meant to know it, waive this finding.',
      })
    }
    const shared = deals.map(({ state }): Compared => ({ public: state.public, private: hiddenFrom(state, '') }))
    for (const leak of findInitialStateLeaks(shared)) if (leak.reveals !== 'part') note(leak, 'public')
    for (const seat of Object.keys(deals[0]?.state.own ?? {})) {
      const own = deals.map(
        ({ state }): Compared => ({ public: state.own?.[seat] as JsonObject, private: hiddenFrom(state, seat) }),
      )
      for (const leak of findInitialStateLeaks(own)) if (leak.reveals === 'all') note(leak, `own.${seat}`)
    }
  }
  return [...found.values()]
}
