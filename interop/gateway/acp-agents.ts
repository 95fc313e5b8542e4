import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Sampled, TokenEngine } from './token-engine.ts'

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const WORLD = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))

/** A sealed line, as far as this program reads it. */
interface PlayedEpisode {
  readonly steps: readonly { readonly completions?: readonly Completion[] }[]
  readonly undecided?: readonly Completion[]
}

interface Completion {
  readonly text: string | null
  readonly promptTokenIds?: readonly number[]
  readonly tokenIds?: readonly number[]
  readonly logProbabilities?: readonly number[]
}

/** What an agent needs in its environment to play with a model that is scripted, beside a home of its own. */
export const ACP_AGENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // It refuses to run as root otherwise.
  'claude-code': { IS_SANDBOX: '1' },
  // A model that it knows may be given tools that only its own server takes.
  codex: { CODEX_CONFIG: '{"model":"scripted"}' },
  // It asks another model which model to ask otherwise.
  gemini: { GEMINI_MODEL: 'gemini-2.5-flash' },
  opencode: { OPENCODE_CONFIG_CONTENT: '{"model":"episodic/scripted"}' },
  copilot: { COPILOT_MODEL: 'scripted' },
  kimi: { KIMI_MODEL_NAME: 'scripted' },
  qwen: { OPENAI_MODEL: 'scripted' },
}

/**
 * Plays an episode with an agent over the Agent Client Protocol, whose models are asked through the gateway of the run.
 * Resolves with what is wrong; `null` if nothing is.
 *
 * @param path - a folder of programs that are found first, such as an `npx` or `gemini`; `undefined` for none.
 */
export async function playAcpAgent(
  name: string,
  path: string | undefined,
  engine: TokenEngine,
  folder: string,
): Promise<string | null> {
  const out = join(folder, name)
  const args = [
    ...['run', WORLD, '--policy', `acp:${name}`, '--record-models', '--token-ids', '--base-url', engine.url],
    ...['--tasks', '1', '--out', out, '--file', '{"episodeTimeout":240}'],
  ]
  const env = {
    ...process.env,
    HOME: folder,
    ...(path !== undefined && { PATH: `${path}${delimiter}${process.env.PATH}` }),
    ...ACP_AGENTS[name],
  }
  await promisify(execFile)(process.execPath, [CLI, ...args], { env, maxBuffer: 2 ** 26 })
  const { steps, undecided = [] } = JSON.parse(readFileSync(join(out, 'episodes.jsonl'), 'utf8')) as PlayedEpisode
  const answers = [...steps.flatMap(({ completions = [] }) => completions), ...undecided]
  if (steps.length < 3) return `it played ${steps.length} steps, and not 3`
  for (const { text, promptTokenIds, tokenIds, logProbabilities } of answers) {
    const { prompt, ids, scores }: Partial<Sampled> = engine.findSampled(text) ?? {}
    if (!ids || JSON.stringify([promptTokenIds, tokenIds, logProbabilities]) !== JSON.stringify([prompt, ids, scores]))
      return `the tokens of ${JSON.stringify(text)} are others`
  }
  return null
}
