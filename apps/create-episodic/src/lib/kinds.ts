/** A kind of world that a project can start with. */
export interface Kind {
  /** One line for the list of kinds. */
  readonly description: string
  /** Packages that its world needs, besides `episodic` and `zod`. */
  readonly needs: readonly string[]
}

/** The kinds of worlds, by the names of their templates. The first is the default. */
export const KINDS = {
  world: { description: 'one agent in a world with tools and rewards', needs: [] },
  game: { description: 'several players who take turns', needs: [] },
  conversation: { description: 'a conversation with questions, answers and a goal', needs: ['@episodic/contexts'] },
  workspace: { description: 'a shell with files', needs: ['@episodic/workspace', 'just-bash', 'sql.js'] },
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof KINDS

/** Returns the kind of a name; `null` if there is none. */
export function toKind(name: string): KindName | null {
  return Object.hasOwn(KINDS, name) ? (name as KindName) : null
}
