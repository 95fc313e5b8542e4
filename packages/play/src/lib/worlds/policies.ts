import { type Policy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { ModelAccess } from '@episodic/models/model-access'
import { DEFAULT_OPTIONS, type ModelSettings } from '@episodic/models/model-options'
import { actionSchema } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { importModule } from '@episodic/run/base/import-module'
import { parseJson } from '@episodic/run/base/json'
import { ACP, AGENT, isLlm, LLM, PROCESS, policyFileOf, SCRIPT } from '@episodic/run/base/player-names'
import { checkedPolicy } from '@episodic/run/base/policy-fault'
import { readTextFile } from '@episodic/run/base/text-file'
import { z } from 'zod'
import { type Agent, isAgent } from './agents/agent.ts'
import { isPolicy, type World } from './world.ts'

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
  const module = await importModule(file, 'policy-unknown')
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
    const { createLlmPolicy } = await import('@episodic/models/policy/llm-policy')
    const { assertSpoken } = await import('@episodic/models/apis/model-server')
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
  const module = await importModule(file, 'policy-unknown')
  const policy = module.policy ?? module.default
  if (!isPolicy(policy))
    throw new HarnessError('policy-unknown', `${file} exports no policy, as "policy" or as its default.`)
  return policy
}
