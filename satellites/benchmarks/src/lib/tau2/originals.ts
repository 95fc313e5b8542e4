import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type DocumentedFunction, readDocstrings } from '../python/docstrings.ts'

/**
 * The files of the original in a folder, at the paths that they have in its repository. Texts that models read are
 * taken from them: prompts, policies, guidelines, and the descriptions of tools in its sources.
 */
export interface Originals {
  /** Reads a file of `data/tau2`; one that is there with `.gz` after its name is unpacked. */
  data(path: string): string
  /** Reads the functions of a source in `src/tau2`. */
  functions(path: string): ReadonlyMap<string, DocumentedFunction>
  /** Reads what a class in a source says of its fields, as `name: type = Field(description="…")`. */
  fields(path: string, model: string): ReadonlyMap<string, string>
  /** What the agent reads before a conversation, by the policy of its domain. */
  agentPrompt(policy: string): string
  /** Returns what a simulated user reads before it, by the scenario of its task. */
  userPrompts(hasTools: boolean): (scenario: string) => string
  /** What the agent has said before the user speaks. */
  readonly greeting: string
}

/** Opens a folder with files of the original. Nothing is read before it is asked for. */
export function openOriginals(folder: string): Originals {
  const data = (path: string) => {
    const file = join(folder, 'data', 'tau2', path)
    const packed = `${file}.gz`
    return existsSync(packed) ? gunzipSync(readFileSync(packed)).toString() : readFileSync(file, 'utf8')
  }
  const source = (path: string) => readFileSync(join(folder, 'src', 'tau2', path), 'utf8')
  return {
    data,
    functions: (path) => readDocstrings(source(path)),
    fields(path, model) {
      const body = new RegExp(`^class ${model}\\(.*\\n((?:(?: .*)?\\n)*)`, 'm').exec(source(path))?.[1] ?? ''
      const fields = body.matchAll(/^ {4}(\w+): [^=\n]*= Field\(\s*description="([^"]*)"/gm)
      return new Map([...fields].map(([, name = '', text = '']) => [name, text]))
    },
    agentPrompt(policy) {
      const agent = source('agent/llm_agent.py')
      return formatted(constantIn(agent, 'SYSTEM_PROMPT'), {
        agent_instruction: constantIn(agent, 'AGENT_INSTRUCTION'),
        domain_policy: policy,
      })
    },
    userPrompts(hasTools) {
      const template = constantIn(source('user/user_simulator.py'), 'SYSTEM_PROMPT')
      const guidelines = data(`user_simulator/simulation_guidelines${hasTools ? '_tools' : ''}.md`)
      const global_user_sim_guidelines_with_persona = guidelines.replace('<PERSONA_GUIDELINES>', '')
      return (instructions) => formatted(template, { global_user_sim_guidelines_with_persona, instructions })
    },
    get greeting() {
      const said = /DEFAULT_FIRST_AGENT_MESSAGE = AssistantMessage\([^)]*content="([^"]*)"/.exec(
        source('orchestrator/orchestrator.py'),
      )?.[1]
      return said ?? missing('DEFAULT_FIRST_AGENT_MESSAGE')
    },
  }
}

/** The text of a constant that is written as `NAME = """…""".strip()`. */
function constantIn(source: string, name: string): string {
  return new RegExp(`^${name} = """([\\s\\S]*?)"""\\.strip\\(\\)`, 'm').exec(source)?.[1]?.trim() ?? missing(name)
}

function missing(name: string): never {
  throw new Error(`A source of τ² has no ${name}: it is another version than this suite was proved with.`)
}

/** As `str.format` with these values alone. */
function formatted(template: string, values: { readonly [name: string]: string }): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}
