import { definePolicy, type Player, type Policy, randomPolicy, sampleJson } from '@episodic/env'
import { type Action, createRng, type Json, type JsonObject, type Rng, type ToolInfo } from '@episodic/protocol'

/** What a wayward player may do instead of what it was told to. */
export interface Waywardness {
  /** The share of actions drawn at random from the tools' schemas. */
  readonly random: number
  /** The share of actions that no schema allows. */
  readonly wrong: number
}

/** Values that are seldom what a schema asks for. */
const ODD: readonly Json[] = [
  null,
  true,
  -1,
  0,
  0.5,
  1e9,
  2 ** 53 - 1,
  -(2 ** 53) + 1,
  '',
  'x'.repeat(300),
  '‮\u0000"\\<script>',
  [],
  [[]],
  {},
  { $ref: '#' },
]

/**
 * Plays as `guide` does, and every now and then at random or against the schemas: wrong types, values out of range,
 * missing and additional arguments, tools that there are not. Without a guide, what is not wrong is random.
 */
export function waywardPolicy(guide: Policy | null, { random, wrong }: Waywardness): Policy {
  return definePolicy({
    name: `wayward ${guide?.name ?? 'random'} ${random} ${wrong}`,
    async start(context) {
      const rng = createRng(context.seed).stream('wayward')
      const guided: Player | null = guide ? await guide.start(context) : null
      return async (observation, view) => {
        const draw = rng.float()
        if (draw < wrong) return wrongAction(context.tools, rng)
        if (draw < wrong + random || !guided) return randomAction(context.tools, rng)
        try {
          return await guided(observation, view)
        } catch {
          // A guide may lose its way in a state that it would not have led to.
          return randomAction(context.tools, rng)
        }
      }
    },
  })
}

/** A quarter each: the solver, random play, a mixture of the two, and one with many calls that no schema allows. */
export function drawPolicy({ solver = null }: { readonly solver?: Policy | null }, rng: Rng): Policy {
  switch (rng.int(0, 3)) {
    case 0:
      return solver ? waywardPolicy(solver, { random: 0, wrong: 0 }) : randomPolicy()
    case 1:
      return randomPolicy()
    case 2:
      return waywardPolicy(solver, { random: 0.3, wrong: 0.1 })
    default:
      return waywardPolicy(solver, { random: 0.2, wrong: 0.6 })
  }
}

/** An action that the schemas allow. */
export function randomAction(tools: readonly ToolInfo[], rng: Rng): Action {
  const tool = rng.pick(tools)
  return { tool: tool.name, arguments: sampleJson(tool.inputSchema, rng) as JsonObject }
}

/** An action that the schemas hardly allow. */
export function wrongAction(tools: readonly ToolInfo[], rng: Rng): Action {
  const { tool, arguments: args } = randomAction(tools, rng)
  const names = Object.keys(args)
  switch (rng.int(0, 4)) {
    case 0:
      return { tool: `${tool}s`, arguments: args }
    case 1:
      return { tool, arguments: { ...args, unheard_of: rng.pick(ODD) } }
    case 2:
      return { tool, arguments: {} }
    default:
      return names.length === 0
        ? { tool: rng.pick(['reset', 'state', 'constructor', '']), arguments: {} }
        : { tool, arguments: { ...args, [rng.pick(names)]: rng.pick(ODD) } }
  }
}
