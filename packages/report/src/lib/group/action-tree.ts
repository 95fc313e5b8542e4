import { type Action, canonicalJson } from '@episodic/protocol'

export interface ActedEpisode {
  /** Any number that names it: its row, for example. */
  readonly episode: number
  readonly steps: readonly { readonly action: Action; readonly seat?: string | undefined }[]
}

export interface ActionNode {
  readonly depth: number
  /** The actions that all of these episodes took from here on. Empty only at the root. */
  readonly actions: readonly { readonly action: Action; readonly seat?: string | undefined }[]
  readonly episodes: readonly number[]
  readonly ended: readonly number[]
  /** How they went on, the way of most episodes first. */
  readonly next: readonly ActionNode[]
}

/** Arranges episodes of one task as a tree of actions: they share a path while their actions are equal. */
export function actionTree(episodes: readonly ActedEpisode[]): ActionNode {
  const keyed = episodes.map(({ episode, steps }) => ({ episode, steps, keys: steps.map(toActionKey) }))
  return nodeOf(keyed, 0, 0)
}

interface KeyedEpisode extends ActedEpisode {
  readonly keys: readonly string[]
}

function nodeOf(episodes: readonly KeyedEpisode[], depth: number, end: number): ActionNode {
  const going = episodes.filter(({ keys }) => keys.length > end)
  const ways = [...Map.groupBy(going, ({ keys }) => keys[end] as string).values()]
  ways.sort((one, other) => other.length - one.length)
  return {
    depth,
    actions: episodes[0]?.steps.slice(depth, end) ?? [],
    episodes: episodes.map(({ episode }) => episode),
    ended: episodes.filter(({ keys }) => keys.length === end).map(({ episode }) => episode),
    next: ways.map((way) => nodeOf(way, end, sharedEnd(way, end + 1))),
  }
}

function sharedEnd(episodes: readonly KeyedEpisode[], from: number): number {
  const [first] = episodes
  let end = from
  while (first && end < first.keys.length && episodes.every(({ keys }) => keys[end] === first.keys[end])) end++
  return end
}

function toActionKey({ action, seat }: ActedEpisode['steps'][number]): string {
  return canonicalJson({ tool: action.tool, arguments: action.arguments, ...(seat !== undefined && { seat }) })
}
