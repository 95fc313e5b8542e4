import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Policy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { type Action, actionSchema } from '@episodic/protocol'
import { z } from 'zod'
import { HarnessError } from './harness-error.ts'
import { isPolicy, type World } from './world.ts'

/**
 * Finds a policy by name: `random`, the world's `solver` or another that it exports, `script:<file>` (a JSON list of
 * `{ tool, arguments }`), or a path to a module that exports one as `policy` or as its default.
 *
 * Throws `policy-unknown`, naming those there are.
 */
export async function findPolicy(name: string, world: World, folder = process.cwd()): Promise<Policy> {
  if (name === 'random') return randomPolicy()
  if (name === 'solver' && world.solver) return world.solver
  if (Object.hasOwn(world.policies, name)) return world.policies[name] as Policy
  if (name.startsWith('script:')) return scriptedPolicy(readScript(resolve(folder, name.slice('script:'.length))), name)
  if (/[/\\]|\.[cm]?[jt]s$/.test(name)) return loadPolicy(resolve(folder, name))
  const known = ['random', ...(world.solver ? ['solver'] : []), ...Object.keys(world.policies)]
  throw new HarnessError(
    'policy-unknown',
    `There is no policy "${name}". There is: ${known.join(', ')}, script:<file.json>, or a path to a module that exports one.`,
  )
}

function readScript(file: string): Action[] {
  try {
    return z.array(actionSchema).parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message
    throw new HarnessError('policy-unknown', `${file} is not a JSON list of { tool, arguments }: ${why}`, { cause })
  }
}

async function loadPolicy(file: string): Promise<Policy> {
  let module: { policy?: unknown; default?: unknown }
  try {
    module = await import(pathToFileURL(file).href)
  } catch (cause) {
    throw new HarnessError('policy-unknown', `The policy ${file} does not load: ${(cause as Error).message}`, { cause })
  }
  const policy = module.policy ?? module.default
  if (!isPolicy(policy))
    throw new HarnessError('policy-unknown', `${file} exports no policy, as "policy" or as its default.`)
  return policy
}
