import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Policy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { actionSchema } from '@episodic/protocol'
import { z } from 'zod'
import { HarnessError } from '../base/harness-error.ts'
import { parseJson } from '../base/json.ts'
import { loadFailure } from '../base/load-failure.ts'
import { readTextFile } from '../base/text-file.ts'
import { ModelAccess } from '../models/model-access.ts'
import { DEFAULT_OPTIONS, type ModelSettings } from '../models/model-options.ts'
import { type Agent, isAgent } from './agents/agent.ts'
import { checkedPolicy } from './policy-fault.ts'
import { isPolicy, type World } from './world.ts'

const SCRIPT = 'script:'
const LLM = 'llm:'
const AGENT = 'agent:'
const PROCESS = 'process:'
const ACP = 'acp:'

export function isLlm(name: string): boolean {
  return name.startsWith(LLM)
}

export function isAgentName(name: string): boolean {
  return name.startsWith(AGENT) || isCommand(name)
}

function isCommand(name: string): boolean {
  return name.startsWith(PROCESS) || name.startsWith(ACP)
}

export function policyFileOf(name: string, folder = process.cwd()): string | null {
  if (isLlm(name) || isCommand(name)) return null
  if (name.startsWith(AGENT)) return resolve(folder, name.slice(AGENT.length))
  if (name.startsWith(SCRIPT)) return resolve(folder, name.slice(SCRIPT.length))
  return /[/\\]|\.[cm]?[jt]s$/.test(name) ? resolve(folder, name) : null
}

/**
 * Finds a policy, as {@link findPolicy} does, or an agent: `agent:<file>`, a module that exports one as `agent` or as
 * its default, `process:<command>`, or `acp:<agent>`. Rejects with `policy-unknown`.
 */
export async function findPlayer(name: string, world: Policies, options: FindOptions = {}): Promise<Policy | Agent> {
  if (name.startsWith(PROCESS)) {
    const { createProcessAgent } = await import('./agents/command-agent.ts')
    return createProcessAgent(name, name.slice(PROCESS.length), options.secrets)
  }
  if (name.startsWith(ACP)) {
    const { createAcpAgent } = await import('./agents/acp-agent.ts')
    return createAcpAgent(name, name.slice(ACP.length), options.secrets)
  }
  if (!name.startsWith(AGENT)) return findPolicy(name, world, options)
  const file = policyFileOf(name, options.folder) as string
  const module = await load(file)
  const agent = module.agent ?? module.default
  if (isAgent(agent)) return agent
  throw new HarnessError('policy-unknown', `${file} exports no agent, as "agent" or as its default: { name, play }.`)
}

type Policies = Pick<World, 'solver' | 'policies'>

export interface FindOptions {
  /** The folder of relative paths. Default: the working folder. */
  readonly folder?: string
  readonly model?: ModelSettings
  /** What the episodes of a language model share. Default: its own rate limit, and no journal. */
  readonly access?: ModelAccess
  /**
   * What no variable in the environment of an agent's process may hold. Default: the values of Episodic's own
   * variables.
   */
  readonly secrets?: readonly string[]
}

/**
 * Finds a policy by name: `random`, the world's `solver` or another that it exports, `script:<file>` (a JSON list of
 * `{ tool, arguments }`), `llm:<model>` behind an OpenAI-compatible API, or a path to a module that exports one as
 * `policy` or as its default.
 *
 * Rejects with `policy-unknown`, naming the known ones. Its players throw `policy-failed` if the policy throws or
 * returns something other than an action, so that its faults are distinct from those of the world.
 */
export async function findPolicy(
  name: string,
  world: Policies,
  { folder = process.cwd(), model = DEFAULT_OPTIONS, access = new ModelAccess() }: FindOptions = {},
): Promise<Policy> {
  if (name === LLM)
    throw new HarnessError(
      'policy-unknown',
      'llm: needs the name of a model. Give llm:<model>, with the name that its server uses.',
    )
  if (isLlm(name)) {
    // The client of models is large, and most runs ask none.
    const { createLlmPolicy } = await import('../models/policy/llm-policy.ts')
    const { assertSpoken } = await import('../models/apis/model-server.ts')
    await assertSpoken(name.slice(LLM.length), model)
    return checkedPolicy(createLlmPolicy(name, name.slice(LLM.length), model, access))
  }
  return checkedPolicy(await find(name, world, folder), policyFileOf(name, folder) ? undefined : name)
}

async function find(name: string, world: Policies, folder: string): Promise<Policy> {
  if (name === 'random') return randomPolicy()
  if (name === 'solver' && world.solver) return world.solver
  if (Object.hasOwn(world.policies, name)) return world.policies[name] as Policy
  const file = policyFileOf(name, folder)
  if (file) return name.startsWith(SCRIPT) ? scriptedPolicy(readScript(file), name) : loadPolicy(file)
  const known = ['random', ...(world.solver ? ['solver'] : []), ...Object.keys(world.policies)]
  throw new HarnessError(
    'policy-unknown',
    `There is no policy "${name}". There is: ${known.join(', ')}, script:<file.json>, llm:<model>, agent:<file>, process:<command>, acp:<agent>, or a path to a module that exports one.`,
  )
}

function readScript(file: string) {
  const problem = `${file} is not a JSON list of { tool, arguments }`
  return parseJson(z.array(actionSchema), () => readTextFile(file), 'policy-unknown', problem)
}

async function loadPolicy(file: string): Promise<Policy> {
  const module = await load(file)
  const policy = module.policy ?? module.default
  if (!isPolicy(policy))
    throw new HarnessError('policy-unknown', `${file} exports no policy, as "policy" or as its default.`)
  return policy
}

async function load(file: string): Promise<{ readonly [name: string]: unknown }> {
  try {
    return await import(pathToFileURL(file).href)
  } catch (cause) {
    throw new HarnessError('policy-unknown', `${file} does not load: ${loadFailure(cause)}`, { cause })
  }
}
