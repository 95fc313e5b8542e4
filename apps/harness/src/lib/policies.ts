import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Player, type Policy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { type Action, actionSchema } from '@episodic/protocol'
import { z } from 'zod'
import { HarnessError } from './harness-error.ts'
import { isPolicy, type World } from './world.ts'

const SCRIPT = 'script:'

/** The file that a policy's name points to; `null` for one that is known by its name. */
export function policyFileOf(name: string, folder = process.cwd()): string | null {
  if (name.startsWith(SCRIPT)) return resolve(folder, name.slice(SCRIPT.length))
  return /[/\\]|\.[cm]?[jt]s$/.test(name) ? resolve(folder, name) : null
}

/**
 * Finds a policy by name: `random`, the world's `solver` or another that it exports, `script:<file>` (a JSON list of
 * `{ tool, arguments }`), or a path to a module that exports one as `policy` or as its default.
 *
 * Throws `policy-unknown`, naming those there are. Its players throw `policy-failed` where the policy throws, and where
 * it answers with what is no action, so that its faults are told from the world's.
 */
export async function findPolicy(name: string, world: World, folder = process.cwd()): Promise<Policy> {
  return checked(await find(name, world, folder))
}

async function find(name: string, world: World, folder: string): Promise<Policy> {
  if (name === 'random') return randomPolicy()
  if (name === 'solver' && world.solver) return world.solver
  if (Object.hasOwn(world.policies, name)) return world.policies[name] as Policy
  const file = policyFileOf(name, folder)
  if (file) return name.startsWith(SCRIPT) ? scriptedPolicy(readScript(file), name) : loadPolicy(file)
  const known = ['random', ...(world.solver ? ['solver'] : []), ...Object.keys(world.policies)]
  throw new HarnessError(
    'policy-unknown',
    `There is no policy "${name}". There is: ${known.join(', ')}, script:<file.json>, or a path to a module that exports one.`,
  )
}

function checked(policy: Policy): Policy {
  const { name } = policy
  const ask = async <T>(play: () => T | Promise<T>): Promise<T> => {
    try {
      return await play()
    } catch (cause) {
      throw new HarnessError('policy-failed', `The policy ${name} threw: ${(cause as Error)?.message ?? cause}`, {
        cause,
      })
    }
  }
  const { resume } = policy
  return {
    name,
    begin: async (context) => checkedPlayer(await ask(() => policy.begin(context))),
    ...(resume && {
      resume: async (context, earlier) => checkedPlayer(await ask(() => resume.call(policy, context, earlier))),
    }),
  }

  function checkedPlayer(player: Player): Player {
    return async (observation, view) => {
      const answer = await ask(() => player(observation, view))
      const action = actionSchema.safeParse(answer)
      if (action.success) return action.data
      throw new HarnessError(
        'policy-failed',
        `The policy ${name} answered ${JSON.stringify(answer)?.slice(0, 200)}, and an action is { tool, arguments }.`,
      )
    }
  }
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
