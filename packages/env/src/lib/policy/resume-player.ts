import type { EnvironmentInfo, Step } from '@episodic/protocol'
import { offeredTools } from './offered-tools.ts'
import type { EarlierStep, Player, Policy, PolicyContext } from './policy.ts'

/** Creates a player, which takes over after the earlier steps if there are any: see `Policy.resume`. */
export async function createPlayer(
  policy: Policy,
  context: PolicyContext,
  earlier: readonly EarlierStep[],
  { game, signal }: { readonly game: { readonly info: EnvironmentInfo }; readonly signal?: AbortSignal | undefined },
): Promise<Player> {
  if (policy.resume && earlier.length > 0) return policy.resume(context, earlier)
  const { info } = game
  const player = await policy.start(context)
  let last: Step | null = null
  for (const { observation, step } of earlier) {
    signal?.throwIfAborted()
    await player(observation, { last, tools: info.offers && offeredTools(info, observation, context.seat), signal })
    last = step
  }
  return player
}
