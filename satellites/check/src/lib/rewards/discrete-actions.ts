import { type Action, canonicalJson, type Json, type JsonObject, seedFor, type ToolInfo } from '@episodic/protocol'
import type { CheckedWorld, Learner, Setting } from '../check-context.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { playLearner } from './learner-episode.ts'

/** Most enumerated actions of one tool, and most actions in all. */
const MOST_OF_TOOL = 16
const MOST = 48
const WATCHED = 64

export interface DiscreteActions {
  readonly actions: readonly Action[]
  /** Tools that cannot be enumerated: their actions are those that the solver plays. */
  readonly watched: readonly string[]
}

/**
 * Enumerates the actions of a learner: all that the schemas allow (booleans, enumerations, small integer ranges), and
 * for a tool with more than that those which the solver plays. `null` if there are fewer than two or too many.
 */
export async function discreteActions(
  { environment, solver = null }: CheckedWorld,
  setting: Setting,
  learner: Learner,
  seed: string,
): Promise<DiscreteActions | null> {
  const actions: Action[] = []
  const watched: string[] = []
  for (const tool of toolsOfSeat(environment, learner.seat)) {
    const enumerated = enumerateActions(tool)
    if (enumerated) actions.push(...enumerated)
    else watched.push(tool.name)
  }
  if (watched.length > 0) {
    if (!solver) return null
    const seen = new Map<string, Action>()
    for (let i = 0; i < WATCHED && seen.size <= MOST; i++) {
      const own = seedFor(seed, 'watched', i)
      const { steps } = await playLearner({ environment, setting, learner, seed: own, policy: solver })
      for (const { action, seat } of steps)
        if (seat === learner.seat && watched.includes(action.tool))
          seen.set(canonicalJson(action as unknown as Json), action)
    }
    actions.push(...seen.values())
  }
  return actions.length >= 2 && actions.length <= MOST ? { actions, watched } : null
}

function enumerateActions({ name, inputSchema }: ToolInfo): Action[] | null {
  let all: JsonObject[] = [{}]
  for (const [key, schema] of Object.entries((inputSchema.properties ?? {}) as JsonObject)) {
    const values = valuesOf(schema as JsonObject)
    if (values === null || all.length * values.length > MOST_OF_TOOL) return null
    all = all.flatMap((args) => values.map((value) => ({ ...args, [key]: value })))
  }
  return all.map((args) => ({ tool: name, arguments: args }))
}

function valuesOf(schema: JsonObject): readonly Json[] | null {
  if (schema.const !== undefined) return [schema.const]
  if (Array.isArray(schema.enum)) return schema.enum as readonly Json[]
  if (schema.type === 'boolean') return [true, false]
  const { type, minimum, maximum } = schema
  if (type !== 'integer' || typeof minimum !== 'number' || typeof maximum !== 'number') return null
  if (maximum - minimum >= MOST_OF_TOOL) return null
  return Array.from({ length: maximum - minimum + 1 }, (_, i) => minimum + i)
}
