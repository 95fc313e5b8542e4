import type { EnvironmentDefinition } from '../environment/environment.ts'
import type { RulesRunner } from '../environment/rules-runner.ts'
import { ServerError } from '../server-error.ts'
import type { HostBounds } from './host.ts'

/** What a host is made of, where it may be wrong. */
export interface HostParts {
  readonly environments: readonly EnvironmentDefinition[]
  readonly bounds: HostBounds
  readonly rules: Pick<RulesRunner, 'prepares'>
}

/**
 * Throws `option-invalid` for no environments, two of one name, one that prepares its steps where the rules are isolated,
 * or bounds that bound nothing.
 */
export function assertHost({ environments, bounds, rules }: HostParts): void {
  if (environments.length === 0) throw new ServerError('option-invalid', 'A host needs at least one environment.')
  if (new Set(environments.map(({ name }) => name)).size < environments.length)
    throw new ServerError('option-invalid', 'Two environments of a host have the same name; a name opens one of them.')
  if (!rules.prepares) for (const environment of environments) assertUnprepared(environment)
  for (const [name, bound] of Object.entries(bounds))
    if (!(bound > 0)) throw new ServerError('option-invalid', `The bound ${name} is ${bound}, and has to be above 0.`)
}

/** That code would run where the host is kept free of it. */
function assertUnprepared({ name, tools }: EnvironmentDefinition): void {
  const preparing = Object.keys(tools).find((tool) => tools[tool]?.preparation)
  if (preparing === undefined) return
  throw new ServerError(
    'option-invalid',
    `Tool ${preparing} of ${name} prepares its steps, which worker threads do not support. Serve ${name} without worker threads, beside a server with them.`,
  )
}
