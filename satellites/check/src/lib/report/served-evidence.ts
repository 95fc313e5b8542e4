import { connect, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { seedFor } from '@episodic/protocol'
import { type CheckedWorld, settingsOf } from '../check-context.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { formatStart } from '../rehearsed-episode.ts'
import { type Evidence, notRun, unmet, wasRun } from './evidence.ts'

/** Settings that are played, each by the solver and at random, and the steps after which a limit cuts random play. */
const SETTINGS = 4
const RANDOM_STEPS = 20
const ADVICE = 'Answer or refuse every call, name each reward term, and report the rest to Episodic.'

/** Plays the solver and random players as they are served, looks at what a trainer receives, and measures the cost. */
export async function playServed(world: CheckedWorld, seed: string): Promise<Evidence> {
  const { environment, solver } = world
  const { name, terms } = environment
  if (environment.multiplayer) return notRun('served', 'episodes of several seats are not played for a report')
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const tools = connection.environments[0]?.tools.map(({ name }) => name) ?? []
  const listed = {
    'runtime.rubric_introspectable': terms.length > 0,
    'runtime.tool_declaration_accuracy': tools.toSorted().join() === Object.keys(environment.tools).toSorted().join(),
  }
  const findings = unmet(listed, { what: `It lists ${tools}, with the terms ${terms}.`, again: name, advice: ADVICE })
  const ids = new Set<string | null>()
  const before = process.resourceUsage()
  let [episodes, steps] = [0, 0]
  for (const [i, setting] of settingsOf(world, seed).slice(0, SETTINGS).entries())
    for (const policy of [...(solver ? [solver] : []), noisyPolicy(null, { random: 1, invalid: 0.1 })]) {
      const { prompt, hints, params } = setting
      const limit = policy === solver ? setting.steps : Math.min(RANDOM_STEPS, setting.steps)
      const own = seedFor(seed, 'served', i)
      const task = { prompt, hints, params, limits: { steps: limit } }
      const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy, seed: own, task })
      ids.add(episode.start?.info.id ?? null)
      episodes += 1
      steps += episode.steps.length
      const held = {
        'runtime.startup': episode.kind === 'finished',
        'runtime.state_contract': ids.size === episodes && episode.steps.every(({ info }, at) => info.seq === at + 1),
        'runtime.reward_attribution': episode.steps.every(({ reward }) => {
          return Math.abs(Object.values(reward.terms).reduce((sum, term) => sum - term, reward.total)) < 1e-9
        }),
        'runtime.resource_bounds': episode.steps.length <= limit,
      }
      const what = episode.kind === 'failed' ? (episode.cause as Error).message : 'It does not hold.'
      findings.push(...unmet(held, { what, again: formatStart({ setting, seed: own }), advice: ADVICE }))
    }
  const after = process.resourceUsage()
  const cpuSeconds = (after.userCPUTime + after.systemCPUTime - before.userCPUTime - before.systemCPUTime) / 1e6
  const [memoryMegabytes, diskMegabytes] = [after.maxRSS / 1e3, ((after.fsWrite - before.fsWrite) * 512) / 1e6]
  const summary = `${episodes} episodes, ${steps} steps as a trainer receives them: ${findings.length} problems; ${cpuSeconds.toFixed(2)} s of CPU, ${memoryMegabytes.toFixed(0)} MB, ${diskMegabytes.toFixed(1)} MB written to a disk`
  const figures = { episodes, steps, tools, terms: [...terms], cpuSeconds, memoryMegabytes, diskMegabytes }
  const prepared = tools.filter((tool) => environment.tools[tool]?.preparation)
  const reason = `${prepared.join(', ')} prepare steps outside of the rules, where strict play does not look`
  const open = prepared.length > 0 ? ['runtime.network_policy', 'runtime.host_containment'] : []
  const waived = open.map((id) => ({ name: id, what: '', again: '', advice: ADVICE, reason }))
  return { ...wasRun({ name: 'served', summary, findings, figures }), waived }
}
