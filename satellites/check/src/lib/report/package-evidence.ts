import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkTasks, generateTasks } from '@episodic/dataset'
import type { CheckedWorld } from '../check-context.ts'
import { type Evidence, notRun, unmet, wasRun } from './evidence.ts'

const TASKS = 8
const LOCKFILES = ['pnpm-lock.yaml', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'bun.lock']

export async function drawTasks({ environment, tasks }: CheckedWorld, seed: string): Promise<Evidence> {
  if (!tasks) return notRun('tasks', 'the world exports no tasks')
  const [drawn = [], again = []] = [0, 1].map(() => generateTasks(tasks, { seed, count: TASKS }).toArray())
  const wrong: string[] = []
  for await (const { line, field, reason } of checkTasks(drawn, { environments: [environment] }))
    wrong.push(`Task ${line}: ${field} ${reason}.`)
  const summary = `${drawn.length} tasks drawn twice, and checked against the world: ${wrong.length} are wrong. ${wrong.slice(0, 3)}`
  const isPinned = JSON.stringify(drawn) === JSON.stringify(again)
  const findings = unmet(
    { 'static.task_distribution_pinning': isPinned, 'runtime.task_declaration_accuracy': wrong.length === 0 },
    { what: summary, again: `seed ${seed}`, advice: 'Draw tasks that the world takes, from the given rng alone.' },
  )
  return wasRun({ name: 'tasks', summary, findings, figures: { seed, drawn: drawn.length } })
}

/** Looks whether each dependency of a module's package is in the lockfile of its project. */
export function readLockfile(module: string): Evidence {
  const manifest = findAbove(module, ['package.json'])
  const lockfile = findAbove(module, LOCKFILES)
  if (!manifest) return notRun('package', `${module} is in no package`)
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'))
  const locked = lockfile ? readFileSync(lockfile, 'utf8') : ''
  const missing = Object.keys(dependencies).filter((name) => !locked.includes(name))
  const summary = `${missing.length} of ${Object.keys(dependencies).length} dependencies are not in ${lockfile ?? 'a lockfile: there is none'}`
  const held = { 'static.dependency_pinning': lockfile !== null && missing.length === 0 }
  const findings = unmet(held, { what: summary, again: module, advice: 'Install with a lockfile, and commit it.' })
  return wasRun({ name: 'package', summary, findings, figures: { missing } })
}

/** The settings in which the same episodes were recorded, and how many of them differ. */
export interface Recorded {
  readonly cells: readonly { readonly store: string; readonly transport: string; readonly differingEpisodes: number }[]
}

/** Says whether episodes differ by the store, the transport, or what is played beside them. */
export function readMatrix({ cells }: Recorded): Evidence {
  const differing = cells.filter(({ differingEpisodes }) => differingEpisodes > 0).length
  const among = [...new Set(cells.map(({ store, transport }) => `${store} over ${transport}`))].join(', ')
  const summary = `the same episodes recorded alone and side by side in ${among}, and replayed by the rules alone: ${differing} of ${cells.length} differ`
  const ids = ['verifier_determinism', 'verifier_portability', 'replayability'].map((id) => `semantic.${id}`)
  const held = Object.fromEntries(['runtime.episode_isolation', ...ids].map((id) => [id, differing === 0]))
  const advice = 'Keep everything in the state: variables of a module are shared by all episodes.'
  const findings = unmet(held, { what: summary, again: 'episodic replay --matrix', advice })
  return wasRun({ name: 'matrix', summary, findings, figures: { cells: cells.length, differing } })
}

function findAbove(path: string, names: readonly string[]): string | null {
  const folder = dirname(path)
  const found = names.map((name) => join(folder, name)).find((file) => existsSync(file))
  return found ?? (folder === path ? null : findAbove(folder, names))
}
