/** A kind of world that a project can start with. */
export interface Kind {
  /** One line for the list of kinds. */
  readonly description: string
  /** Packages that its world needs, besides `episodic` and `zod`. */
  readonly needs: readonly string[]
  /** The checks of its `npm test`. */
  readonly checks: readonly string[]
}

const QUICKEST = ['determinism', 'hygiene']

/** The kinds of worlds, by the names of their templates. The first is the default. */
export const KINDS = {
  world: { description: 'one agent in a world with tools and rewards', needs: [], checks: QUICKEST },
  game: { description: 'several players who take turns', needs: [], checks: QUICKEST },
  conversation: {
    description: 'a conversation with questions, answers and a goal',
    needs: ['@episodic/contexts', 'compromise'],
    checks: QUICKEST,
  },
  workspace: {
    description: 'a shell with files',
    needs: ['@episodic/workspace', 'just-bash', 'sql.js'],
    checks: QUICKEST,
  },
  // What a server answers is chance to `check`, unless it is recorded.
  mcp: {
    description: 'the tools of an MCP server',
    needs: ['@modelcontextprotocol/server-memory'],
    checks: ['hygiene'],
  },
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof KINDS

/** Returns the kind of a name; `null` if there is none. */
export function toKind(name: string): KindName | null {
  return Object.hasOwn(KINDS, name) ? (name as KindName) : null
}
