import {
  delegate,
  type Environment,
  type Episode,
  type PlayedStep,
  type Player,
  PlayerStop,
  type Policy,
  runEpisode,
} from '@episodic/env'
import { seedFor } from '@episodic/protocol'

type Options = Parameters<typeof runEpisode>[0] & { readonly policySeed: string }
type Fork = Awaited<ReturnType<Environment['fork']>>[number]
type Finished = Extract<Episode, { kind: 'finished' }>

/**
 * Plays an episode, and estimates for each of its steps how much better the action was than what the policy does on
 * average. Before each step it is forked into pairs of lines: one takes the action that was taken, the other one an
 * action that the policy draws, and both are played to their ends. The advantage is the mean difference of their
 * discounted returns. Both lines of a pair have the same seeds.
 *
 * It is the counterfactual advantage of COMA (Foerster et al., 2018, arXiv:1705.08926, equation 4) for one agent, from
 * resets to a visited state, as in VinePPO (Kazemnejad et al., 2024, arXiv:2410.01679, section 4).
 */
export async function playWithForks(options: Options, pairs: number, discount: number) {
  const environment = options.createEnvironment()
  // It is forked after its end.
  const open = delegate(environment, { close: async () => {} })
  const episode = finished(await runEpisode({ ...options, createEnvironment: () => open }))
  const advantages: number[] = []
  let forkedSteps = 0
  for (const at of episode.steps.keys()) {
    const seed = seedFor(options.policySeed, 'advantage', at)
    const fork = () => environment.fork({ count: pairs, at, seed })
    const play = async (line: Fork, i: number, takes: boolean) => {
      const steps = await playLine(line, episode, at, takes, { ...options, policySeed: seedFor(seed, 'policy', i) })
      forkedSteps += steps.length
      return steps
    }
    const drawn = await Promise.all((await fork()).map((line, i) => play(line, i, false)))
    const differs = drawn.map(([first]) => !isSame(first, episode.steps[at]))
    const taken = differs.includes(true) ? await fork() : []
    const differences = await Promise.all(
      drawn.map(async (other, i) => {
        const line = taken[i] as Fork
        if (differs[i]) return earnedBy(await play(line, i, true), discount) - earnedBy(other, discount)
        await line?.close()
        return 0
      }),
    )
    advantages.push(differences.reduce((sum, difference) => sum + difference, 0) / pairs)
  }
  await environment.close()
  return { episode, advantages, forkedSteps }
}

/** Plays a fork to its end; one step alone if the policy draws what was taken, since its pair then earns the same. */
async function playLine(fork: Fork, { start, steps }: Finished, at: number, takes: boolean, options: Options) {
  const taken = steps[at] as PlayedStep
  // The policy is asked in both lines, so that their later draws are the same.
  const playing = (player: Player): Player => {
    let first: PlayedStep['action'] | undefined
    return async (observation, view) => {
      if (!takes && first && isSame({ action: first }, taken)) throw new PlayerStop('no-action', 'The same.')
      const action = await player(observation, view)
      if (first) return action
      first = takes ? taken.action : action
      return first
    }
  }
  const { name, start: begin, resume } = options.policy
  const policy: Policy = {
    name,
    start: async (context) => playing(await begin(context)),
    ...(resume && { resume: async (context, earlier) => playing(await resume(context, earlier)) }),
  }
  const begun = delegate(fork, { restore: async () => fork.start })
  const origin = { snapshot: {} as never, start, steps: steps.slice(0, at) }
  return finished(await runEpisode({ ...options, policy, createEnvironment: () => begun, origin })).steps
}

function isSame(one: Pick<PlayedStep, 'action'> | undefined, other: Pick<PlayedStep, 'action'> | undefined): boolean {
  return JSON.stringify(one?.action) === JSON.stringify(other?.action)
}

function earnedBy(steps: readonly PlayedStep[], discount: number): number {
  return steps.reduceRight((later, { reward }) => reward.total + discount * later, 0)
}

export function finished(episode: Episode): Finished {
  if (episode.kind === 'failed') throw episode.cause
  return episode
}
