import { invalidOption } from '@episodic/run/base/harness-error'
import { isLlm, policyFileOf } from '@episodic/run/base/player-names'
import { countLeaves, type RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { hashFile, hashModule } from '@episodic/run/folder/plan/content-hash'
import { stagesOf } from '@episodic/run/folder/plan/curriculum-settings'
import { isServed, type PlayedWorld } from '../../worlds/served-world.ts'
import type { RunSettings } from '../run-settings.ts'
import { maxTasksInFlight } from './plan.ts'
import { seatNames, seatsOf } from './players.ts'

/** Returns what a run plays. Rejects with `option-invalid` for settings that contradict each other or the world. */
export async function configureRun(world: PlayedWorld, settings: RunSettings): Promise<RunConfiguration> {
  const { name, version, hasPotential } = world.environment
  const { branch, concurrency, processes, shaping = false, split = null, maxSteps = null, episodeTimeout } = settings
  const hasSeats = seatsOf(world) !== null
  const single = branch.length > 0 ? '--branch' : shaping ? '--shaping' : null
  if (hasSeats && single)
    throw invalidOption(`${single} is for environments of one seat, and ${name} has several. Leave it out.`)
  const leaves = countLeaves(branch)
  // The workers of a queue have a concurrency of their own.
  if (settings.queue === undefined && branch.length > 0 && leaves > concurrency)
    throw invalidOption(
      `--branch plays ${leaves} episodes of a tree at once, and --concurrency is ${concurrency}. Give --concurrency ${leaves}, or fewer lines.`,
    )
  const rollouts = maxTasksInFlight(concurrency, branch)
  if (processes > rollouts)
    throw invalidOption(
      `--processes ${processes} is more than the ${rollouts} ${leaves > 1 ? 'trees' : 'episodes'} that --concurrency ${concurrency} plays at once. Give fewer processes, or more --concurrency.`,
    )
  if (shaping && !hasPotential)
    throw invalidOption(`--shaping needs a potential, and ${name} defines no potential. Leave --shaping out.`)
  const tools = isServed(world) ? null : world.environment.toolInfos.map(({ name }) => name)
  const unknown = Object.keys(settings.describe ?? {}).find((tool) => tools && !tools.includes(tool))
  if (unknown !== undefined) throw invalidOption(`${name} has no tool "${unknown}" to describe: ${tools?.join(', ')}.`)
  const names = seatNames(world, settings)
  const { focus = Object.keys(names)[0] as string } = settings
  const seats: Record<string, RunConfiguration['policy']> = {}
  for (const [seat, policy] of Object.entries(names))
    seats[seat] = await toPolicyConfiguration(policy, policy === names[focus] ? settings.policyVersion : undefined)
  return {
    environment: { name, version, ...(isServed(world) && { system: world.guarantees.system }) },
    tasks: settings.dataset
      ? { from: 'dataset', file: settings.dataset, sha256: await hashFile(settings.dataset), split }
      : { from: 'generator', count: settings.tasks, difficulty: settings.difficulty, split },
    policy: seats[focus] as RunConfiguration['policy'],
    ...(hasSeats && { seats, focus }),
    sampling: samplingOf(Object.values(names), settings),
    rollouts: settings.rollouts,
    ...(settings.until !== undefined && { until: settings.until }),
    ...(settings.toolFaults && { toolFaults: settings.toolFaults }),
    ...(settings.stages && { curriculum: stagesOf(settings.stages) }),
    branch,
    maxSteps,
    ...(episodeTimeout !== undefined && { episodeTimeout }),
    weights: settings.weights,
    shaping,
    discount: settings.discount,
    seed: settings.seed,
  }
}

async function toPolicyConfiguration(name: string, version: string | undefined): Promise<RunConfiguration['policy']> {
  const file = policyFileOf(name)
  return { name, sha256: file && (await hashModule(file)), ...(version !== undefined && { version }) }
}

const NO_SAMPLING = { temperature: null, maxTokens: null, tokenBudget: null }

function samplingOf(policies: readonly string[], settings: RunSettings): RunConfiguration['sampling'] {
  const { temperature = null, maxTokens = null, tokenBudget = null } = settings
  const { systemPrompt, describe, parallelToolCalls, images, modelOption, modelHeader } = settings
  const given = {
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(describe && { describe }),
    ...(!parallelToolCalls && { parallelToolCalls: false as const }),
    ...(!images && { images: false as const }),
    ...(modelOption && { modelOption }),
    ...(modelHeader && { modelHeader }),
  }
  const isGiven = (temperature ?? maxTokens ?? tokenBudget) !== null || Object.keys(given).length > 0
  if (policies.some(isLlm)) return isGiven ? { temperature, maxTokens, tokenBudget, ...given } : null
  // Of what agents ask, a run changes nothing but fields of the requests that it records.
  return settings.recordModels && modelOption ? { ...NO_SAMPLING, modelOption } : null
}
