/** The checks of a project's `npm test`. */
const checks = ['determinism', 'hygiene']

/** The kinds of worlds, by the names of their templates, with the packages that each needs beside `episodic`. */
export const KINDS = {
  world: { description: 'one agent in a world with tools and rewards', needs: [], checks },
  game: { description: 'several players who take turns', needs: [], checks },
  conversation: { description: 'questions, answers and a goal', needs: ['@episodic/contexts', 'compromise'], checks },
  workspace: { description: 'a shell with files', needs: ['@episodic/workspace', 'just-bash', 'sql.js'], checks },
  // What a server answers is chance to `check`, unless it is recorded.
  mcp: { description: 'the tools of an MCP server', needs: ['@modelcontextprotocol/server'], checks: ['hygiene'] },
} as const

export type KindName = keyof typeof KINDS
