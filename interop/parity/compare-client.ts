import { createHost } from '@episodic/mcp-server'
import { createMemoryStore } from '@episodic/state/memory'
import { type Difference, findDifference } from './difference.ts'
import { keepSessions } from './keep-sessions.ts'
import type { ParityClient } from './parity-client.ts'
import type { Reference } from './reference.ts'
import type { SeenEpisode } from './seen-episode.ts'
import { sessionOf } from './session-of.ts'

/** How the episodes of one world came out with one client. */
export interface Comparison {
  readonly world: string
  readonly client: string
  readonly episodes: number
  readonly steps: number
  readonly equal: number
  readonly different: number
  /** The first difference of the first episode that differs. Left out if none does. */
  readonly first?: Difference & { readonly episode: number }
}

/**
 * Plays the references of several worlds with a client, on a host of its own, and resolves with a comparison for each
 * world.
 */
export async function compareClient(
  client: ParityClient,
  references: readonly Reference[],
): Promise<readonly Comparison[]> {
  const kept = keepSessions(createMemoryStore())
  const { plays = () => true } = client
  const all = references.filter(plays)
  const worlds = [...new Set(all.map(({ script }) => script.world))]
  const environments = worlds.map(({ environment }) => environment)
  const seen = new Map<Reference, SeenEpisode>()
  await using host = createHost({ environments, store: kept.store })
  {
    await using player = await client.open(
      host,
      all.map(({ script }) => script),
    )
    for (const reference of all) seen.set(reference, await player.play(reference.script))
  }
  const sessions = await kept.seal()
  if (sessions.length !== all.length)
    throw new Error(`${client.name} played ${all.length} episodes in ${sessions.length} sessions.`)
  return worlds.map((world) => {
    const episodes = all.filter(({ script }) => script.world === world)
    const differences = episodes.flatMap((reference) => {
      const { script } = reference
      const played = { seen: seen.get(reference) as SeenEpisode, sealed: sessionOf(sessions, script) }
      const difference = findDifference(reference, client.shows, played)
      return difference ? [{ ...difference, episode: script.index }] : []
    })
    const [first] = differences
    return {
      world: world.name,
      client: client.name,
      episodes: episodes.length,
      steps: episodes.reduce((sum, { steps }) => sum + steps.length, 0),
      equal: episodes.length - differences.length,
      different: differences.length,
      ...(first && { first }),
    }
  })
}
