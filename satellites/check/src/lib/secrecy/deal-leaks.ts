import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { createRng, type JsonObject } from '@episodic/protocol'
import { partName } from '@episodic/state/internal'
import type { Setting } from '../check-context.ts'
import { type Deal, hasLargePart, hiddenFrom, namePlace } from '../deal.ts'
import type { Finding, FindingKind } from '../finding.ts'
import { shapeOf } from '../shape-of.ts'
import { findDerivedTokens } from './derived-tokens.ts'
import { findInitialStateLeaks, type StartParts } from './initial-state-leaks.ts'
import { varyingValues } from './varying-values.ts'

/** How a seen feature and a hidden value depend on each other. */
const LEAK_WORDS = {
  all: ['start-reveals', 'determines', ''],
  order: ['start-reveals', 'is determined by', ''],
  part: ['start-narrows', 'is determined by', ', which narrows it down'],
} as const

/**
 * Finds what is hidden from a player and follows from what it sees at the start: from the public state, or from what a
 * seat holds. Each is reported once for all settings. Warns of what only narrows a value down.
 */
export function findDealLeaks(
  environment: EnvironmentDefinition,
  settings: readonly Setting[],
  allDeals: readonly (readonly Deal[])[],
  seed: string,
): { readonly findings: Finding[]; readonly warnings: Finding[] } {
  const found = new Map<string, Finding>()
  for (const [i, deals] of allDeals.entries()) {
    const again = `params ${JSON.stringify(settings[i]?.params)}, seeds ${deals
      .slice(0, 3)
      .map(({ seed }) => seed)
      .join(', ')}`
    const note = (kind: FindingKind, path: string, what: string, advice: string) => {
      const name = `${kind}:${namePlace(environment, path)}` as const
      if (!found.has(name)) found.set(name, { name, what: `In the initial state, ${what}.`, again, advice })
    }
    const compare = (seen: string, all: readonly StartParts[]) => {
      const parts = deals.some(({ state }) => hasLargePart(state)) ? reduced(environment, all, seed) : all
      const named = (feature: string) => feature.replace('public', seen)
      for (const { feature, private: path, reveals } of findInitialStateLeaks(parts)) {
        const [kind, verb, rest] = LEAK_WORDS[reveals]
        // What a seat holds is dealt from what is hidden, so that much of it follows from that.
        if (seen !== 'public' && reveals !== 'all') continue
        note(
          kind,
          path,
          `${named(feature)} ${verb} ${path}${rest}`,
          'Keep it in the part of the state that it belongs to, and reveal(…) what players are meant to learn. If they are meant to know it, waive this finding.',
        )
      }
      for (const { feature, private: path, how } of findDerivedTokens(parts))
        note(
          'start-reveals',
          path,
          `${named(feature)} is ${how} ${path}: a player who tries values finds it`,
          'Draw tokens that players see from a stream of their own, such as rng.stream(…), and never from a hidden value.',
        )
    }
    compare(
      'public',
      deals.map(({ state }) => ({ public: state.public, private: hiddenFrom(environment, state, '') })),
    )
    for (const seat of Object.keys(deals[0]?.state.own ?? {}))
      compare(
        `own.${seat}`,
        deals.map(({ state }) => ({
          public: state.own?.[seat] as JsonObject,
          private: hiddenFrom(environment, state, seat),
        })),
      )
  }
  const [findings, warnings] = [true, false].map((fails) =>
    [...found.values()].filter(({ name }) => name.startsWith('start-reveals') === fails),
  ) as [Finding[], Finding[]]
  return { findings, warnings }
}

/** Returns large parts of states without what they have in common, and a sample of the rest. */
function reduced(environment: EnvironmentDefinition, all: readonly StartParts[], seed: string): StartParts[] {
  const rng = createRng(seed).stream('deal leaks')
  const isLarge = all.some((parts) => partName(parts.public) !== null)
  const open = all.map((parts) => parts.public)
  const seen = isLarge ? varyingValues(open, (path) => shapeOf(environment, ['public', ...path]), rng) : open
  const hidden = varyingValues(
    all.map((parts) => parts.private),
    (path) => shapeOf(environment, path),
    rng,
  )
  return seen.map((part, i) => ({ public: part, private: hidden[i] as JsonObject }))
}
