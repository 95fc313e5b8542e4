import { gameTree } from '@episodic/classics/solve'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'

/** Branches of a game that are walked before it is too large to count its information sets. */
const MOST_BRANCHES = 20_000

/** The information sets of each seat, or why they are not counted. */
export type InformationSets =
  | { readonly bySeat: { readonly [seat: string]: number } }
  | { readonly bySeat: null; readonly why: string }

/**
 * Counts the information sets of a small game: what each seat has been shown and has done when it has to act. A leak of
 * hidden state raises the number, and a forgotten observation lowers it.
 */
export function countInformationSets(environment: EnvironmentDefinition, params: JsonObject): InformationSets {
  try {
    const { decisions } = gameTree(environment, params, { most: MOST_BRANCHES })
    const seats = Map.groupBy(decisions, ({ seat }) => seat)
    return { bySeat: Object.fromEntries([...seats].map(([seat, own]) => [seat, own.length])) }
  } catch (error) {
    return { bySeat: null, why: (error as Error).message }
  }
}
