import { DEFAULT_LIMITS, type JsonObject } from '@episodic/protocol'
import type { CheckedWorld } from '../check-context.ts'
import { type Evidence, notRun, unmet, wasRun } from './evidence.ts'

/** What policy v2 of OpenEnv lets an author declare: the most tolerance and seconds, and the least margin. */
const [TOLERANCE, SECONDS, MARGIN] = [0.1, 3_600, 0.1]

/**
 * Proposes what `openenv.yaml` declares, from what was measured, as OpenEnv normalizes it. Returns it with what of it
 * OpenEnv would refuse; `null` for it if too little was measured, and for several seats.
 */
export function proposeManifest(
  { environment, solver }: CheckedWorld,
  location: string,
  evidence: readonly Evidence[],
): readonly [Evidence, JsonObject | null] {
  const { name, version, seats } = environment
  const refused = `RFC 008 refuses packages of the category multi-agent as unsupported, and ${name} has the seats ${seats.join(', ')}`
  if (environment.multiplayer) return [notRun('manifest', refused), null]
  const of = (source: string) => evidence.find((one) => one.name === source && one.outcome !== 'skipped')?.figures
  const [rewards, served, tasks] = [of('rewards'), of('served'), of('tasks')]
  if (!rewards || !served) return [notRun('manifest', 'no reward was measured: `rewards` was not run'), null]
  const { low = 0, high = 0, gain = 0, solver: oracle = null } = rewards as { [figure: string]: number }
  const gap = (of('exploits')?.idles as number | undefined) ?? gain
  const { steps = DEFAULT_LIMITS.steps, seconds = SECONDS } = environment.limitsFor({})
  const isShort = seconds <= SECONDS
  const held = { 'static.manifest': low < high, 'static.timeout_ceiling': isShort, 'semantic.floor_gap': gap >= MARGIN }
  const summary = `proposed from what was measured: steps earn ${low} to ${high}, and the solver ${gap} more than the floor`
  const advice = 'Reward the goal and nothing else, and end an episode within an hour.'
  const figures = { low, high, oracle, gap, steps, seconds }
  const findings = unmet(held, { what: summary, again: name, advice })
  const least = Math.floor(Math.min(gap, high - low) * 10) / 10
  const oracles: JsonObject = solver ? { oracle: { form: 'script', location } } : {}
  const manifest = {
    ...{ manifest_schema_version: '1', name, version, signature: 'openenv.yaml' },
    reward: { range: [low, high], oracle_tolerance: TOLERANCE, floor_margin: Math.max(MARGIN, least) },
    resources: {
      cpu: 1,
      memory_mb: Math.ceil(((served.memoryMegabytes as number) * 1.5) / 64) * 64,
      disk_mb: Math.ceil((served.diskMegabytes as number) + 1),
      episode_timeout_s: Math.min(seconds, SECONDS),
    },
    ...(tasks && { task_distribution: { generator_seed: Number(tasks.seed) || 0, dataset_version: version } }),
    network: { mode: 'public' },
    capabilities: { ...oracles, verifier: { kind: 'reward_channel' }, declared_tools: Object.keys(environment.tools) },
    types: { tags: ['episodic'] },
  }
  return [wasRun({ name: 'manifest', summary, findings, figures }), low < high ? manifest : null]
}

/** Formats what the author of a package copies into `openenv.yaml`. */
export function formatManifest({ name, version, manifest_schema_version, signature, ...block }: JsonObject): string {
  const lines = Object.entries(block).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`)
  return `name: ${JSON.stringify(name)}\nversion: ${JSON.stringify(version)}\nvalidation:\n${lines.join('')}`
}
