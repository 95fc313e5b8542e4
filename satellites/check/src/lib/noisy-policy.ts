import { definePolicy, type Player, type Policy, randomPolicy, sampleJson } from '@episodic/env'
import {
  type Action,
  createRng,
  type Json,
  type JsonObject,
  type LegalActions,
  type Rng,
  type ToolInfo,
} from '@episodic/protocol'

export interface Noise {
  readonly random: number
  readonly invalid: number
}

export const NO_NOISE: Noise = { random: 0, invalid: 0 }

export const UNPLAYABLE: Action = { tool: 'no-such-tool', arguments: {} }

/** Values that few schemas accept. */
const ODD: readonly Json[] = [
  ...[null, true, -1, 0, 0.5, 1e9, 2 ** 53 - 1, -(2 ** 53) + 1],
  ...['', 'x'.repeat(300), '‮\u0000"\\<script>'],
  ...[[], [[]], {}, { $ref: '#' }],
]

/**
 * Follows `guide`, with random and invalid actions mixed in: wrong types, values out of range, missing and additional
 * arguments, unknown tools. Without a guide, every valid action is random.
 */
export function noisyPolicy(guide: Policy | null, { random, invalid }: Noise): Policy {
  return definePolicy({
    name: `noisy ${guide?.name ?? 'random'} ${random} ${invalid}`,
    async start(context) {
      const rng = createRng(context.seed).stream('noise')
      const guided: Player | null = guide ? await guide.start(context) : null
      return async (observation, view) => {
        const { tools = context.tools } = view
        const draw = rng.float()
        if (draw < invalid) return invalidAction(tools, rng)
        if (draw < invalid + random || !guided) return randomAction(tools, rng)
        try {
          return await guided(observation, view)
        } catch {
          // A guide may throw in a state that its own actions never lead to.
          return randomAction(tools, rng)
        }
      }
    },
  })
}

export function drawPlayPolicy({ solver = null }: { readonly solver?: Policy | null }, rng: Rng): Policy {
  switch (rng.int(0, 3)) {
    case 0:
      return solver ? noisyPolicy(solver, { random: 0, invalid: 0 }) : randomPolicy()
    case 1:
      return randomPolicy()
    case 2:
      return noisyPolicy(solver, { random: 0.3, invalid: 0.1 })
    default:
      return noisyPolicy(solver, { random: 0.2, invalid: 0.6 })
  }
}

export function randomAction(tools: readonly ToolInfo[], rng: Rng): Action {
  const tool = rng.pick(tools)
  return { tool: tool.name, arguments: sampleJson(tool.inputSchema, rng) as JsonObject }
}

export function randomLegalAction(
  legal: LegalActions,
  rng: Rng,
  isChosen: (tool: string) => boolean = () => true,
): Action | null {
  const tools = Object.entries(legal).filter(([name]) => isChosen(name))
  if (tools.length === 0) return null
  const [tool, schema] = rng.pick(tools)
  return { tool, arguments: sampleJson(schema, rng) as JsonObject }
}

export function invalidAction(tools: readonly ToolInfo[], rng: Rng): Action {
  const { tool, arguments: args } = randomAction(tools, rng)
  const names = Object.keys(args)
  switch (rng.int(0, 4)) {
    case 0:
      return { tool: `${tool}s`, arguments: args }
    case 1:
      return { tool, arguments: { ...args, unknown: rng.pick(ODD) } }
    case 2:
      return { tool, arguments: {} }
    default:
      return names.length === 0
        ? { tool: rng.pick(['reset', 'state', 'constructor', '']), arguments: {} }
        : { tool, arguments: { ...args, [rng.pick(names)]: rng.pick(ODD) } }
  }
}
