import { gameTree } from '@episodic/classics/solve'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'

/** Branches of a game that are walked before it is too large to count its information sets. */
const MOST_BRANCHES = 20_000

/**
 * Counts the information sets of a small game: what each seat has been shown and has done when it has to act. A leak of
 * hidden state raises the number, and a forgotten observation lowers it. Of a larger one it returns why not.
 */
export function countInformationSets(environment: EnvironmentDefinition, params: JsonObject) {
  try {
    const { decisions } = gameTree(environment, params, { most: MOST_BRANCHES })
    const seats = Map.groupBy(decisions, ({ seat }) => seat)
    return { bySeat: Object.fromEntries([...seats].map(([seat, own]) => [seat, own.length])), why: '' }
  } catch (error) {
    return { bySeat: null, why: (error as Error).message }
  }
}
