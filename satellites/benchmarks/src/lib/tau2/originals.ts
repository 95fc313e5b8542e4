import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readDocstrings } from '../python/docstrings.ts'

/**
 * Opens a folder with files of the original, at the paths that they have in its repository. Texts that models read are
 * taken from them: prompts, policies, guidelines, and the descriptions of tools in its sources. Nothing is read before
 * it is asked for.
 */
export function openOriginals(folder: string) {
  /** Reads a file of `data/tau2`; one that is there with `.gz` after its name is unpacked. */
  const data = (path: string) => {
    const file = join(folder, 'data/tau2', path)
    return existsSync(file) ? readFileSync(file, 'utf8') : gunzipSync(readFileSync(`${file}.gz`)).toString()
  }
  const source = (path: string) => readFileSync(join(folder, 'src/tau2', path), 'utf8')
  return {
    data,
    functions(domain: string, hasUserTools: boolean) {
      const files = hasUserTools ? ['tools', 'user_tools'] : ['tools']
      return new Map(files.flatMap((file) => [...readDocstrings(source(`domains/${domain}/${file}.py`))]))
    },
    /** Reads what a class in the data model of a domain says of its fields: `name: type = Field(description="…")`. */
    fields(domain: string, model: string): { readonly [field: string]: string } {
      const text = source(`domains/${domain}/data_model.py`)
      const [, body = ''] = new RegExp(`^class ${model}\\(.*\\n((?:(?: .*)?\\n)*)`, 'm').exec(text) ?? []
      const fields = body.matchAll(/^ {4}(\w+): [^=\n]*= Field\(\s*description="([^"]*)"/gm)
      return Object.fromEntries([...fields].map(([, name, said]) => [name, said]))
    },
    /** What the agent reads before a conversation, by the policy of its domain. */
    agentPrompt(domain_policy: string): string {
      const agent = source('agent/llm_agent.py')
      const agent_instruction = constantIn(agent, 'AGENT_INSTRUCTION')
      return formatted(constantIn(agent, 'SYSTEM_PROMPT'), { agent_instruction, domain_policy })
    },
    /** Returns what a simulated user reads before it, by the scenario of its task. */
    userPrompts(hasTools: boolean): (scenario: string) => string {
      const template = constantIn(source('user/user_simulator.py'), 'SYSTEM_PROMPT')
      const guidelines = data(`user_simulator/simulation_guidelines${hasTools ? '_tools' : ''}.md`)
      const global_user_sim_guidelines_with_persona = guidelines.replace('<PERSONA_GUIDELINES>', '')
      return (instructions) => formatted(template, { global_user_sim_guidelines_with_persona, instructions })
    },
    /** Returns what the agent has said before the user speaks. */
    greeting: () =>
      foundIn(
        source('orchestrator/orchestrator.py'),
        'DEFAULT_FIRST_AGENT_MESSAGE = AssistantMessage\\([^)]*content="([^"]*)"',
      ),
  }
}

/** The text of a constant that is written as `NAME = """…""".strip()`. */
function constantIn(source: string, name: string): string {
  return foundIn(source, `^${name} = """([\\s\\S]*?)"""\\.strip\\(\\)`).trim()
}

function foundIn(source: string, pattern: string): string {
  const [, found] = new RegExp(pattern, 'm').exec(source) ?? []
  if (found === undefined)
    throw new Error(`A source of τ² has no ${pattern}: it is another version than this suite was proved with.`)
  return found
}

/** As `str.format` with these values alone. */
function formatted(template: string, values: { readonly [name: string]: string }): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}
