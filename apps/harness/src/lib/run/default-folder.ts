import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { RunConfiguration } from './configuration.ts'

/** The folder of a run that was given none: `runs/<world>-<policy>-<seed>`. */
export function defaultFolder({
  environment,
  policy,
  seed,
}: Pick<RunConfiguration, 'environment' | 'policy' | 'seed'>): string {
  return join('runs', [environment.name, shortName(policy.name), seed].join('-').replace(/[^\w.-]+/g, '-'))
}

/** Short and distinct: a command or a path is represented by its first words, without folders, and by its hash. */
function shortName(policy: string): string {
  if (/^(\w+:)?[\w.-]{1,32}$/.test(policy)) return policy
  const words = policy.replaceAll(/[^\s:]*\//g, '').replaceAll(/[^\w.]+/g, '-')
  return `${words.slice(0, 32).replace(/-+$/, '')}-${hash('sha256', policy).slice(0, 6)}`
}
