import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { contentId, findNonJson } from '@episodic/protocol'
import type { SavableRng } from '@episodic/protocol/internal'
import type { SessionState } from '@episodic/state'
import { written } from './deal.ts'
import { type Preparation, withPreparations } from './prepared-tools.ts'

type Context = Parameters<Preparation['prepare']>[0]

const MOST = 2_048

const asWritten = new WeakMap<Preparation, Preparation>()

/**
 * Returns an environment that asks a repeatable preparation once for the same context. A check plays the same steps
 * many times: in both plays of a pair, up to each cut, after the solver. A program that runs for a
 * step costs more than the rest of it.
 */
export function withRememberedPreparations(environment: EnvironmentDefinition): EnvironmentDefinition {
  const remembered = new Map<string, string>()
  return withPreparations(environment, (preparation, name) => {
    if (!preparation.repeatable) return preparation
    const repeated: Preparation = {
      ...preparation,
      async prepare(context) {
        // What JSON cannot say has no name.
        if (findNonJson(context.input) !== null) return preparation.prepare(context)
        const key = toKey(name, context)
        const known = remembered.get(key)
        if (known !== undefined) return JSON.parse(known)
        const value = await preparation.prepare(context)
        if (findNonJson(value) !== null) return value
        remembered.set(key, JSON.stringify(value))
        // The first is the oldest.
        if (remembered.size > MOST) remembered.delete(remembered.keys().next().value as string)
        return value
      },
    }
    asWritten.set(repeated, preparation)
    return repeated
  })
}

export function unremembered(preparation: Preparation): Preparation {
  return asWritten.get(preparation) ?? preparation
}

function toKey(tool: string, { state, input, params, now, rng, isLast }: Context): string {
  const positions = (rng as SavableRng).save()
  // Two draws of a stream that nobody else draws from stand for the seed.
  const { int } = rng.stream('a remembered preparation')
  const seed = [int(0, 0xffffffff), int(0, 0xffffffff)]
  return contentId(JSON.stringify([tool, written(state as SessionState), input, params, now, positions, seed, isLast]))
}
