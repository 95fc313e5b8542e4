import { parseArgs } from 'node:util'

const AGENTS = ['langchain', 'ai-sdk', 'openai'] as const

export type AgentName = (typeof AGENTS)[number]

export interface DemoOptions {
  readonly help: boolean
  readonly json: boolean
  /** The scenes to play, in their own order. */
  readonly only: readonly string[]
  readonly agent: AgentName
}

/** An error in the command line. */
export class UsageError extends Error {}

/**
 * Parses the command line. Without `--agent` the agent is LangChain's, or that of a real model if the environment names
 * an endpoint.
 *
 * Throws a `UsageError`.
 */
export function parseDemoOptions(
  args: readonly string[],
  scenes: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): DemoOptions {
  const { help, json, only, agent } = parse(args)
  const asked = only === undefined ? scenes : only.split(',').map((name) => name.trim())
  const unknown = asked.filter((name) => !scenes.includes(name))
  if (unknown.length > 0)
    throw new UsageError(
      `There is no scene ${unknown.map((name) => `"${name}"`).join(', ')}. There is: ${scenes.join(', ')}.`,
    )
  const named = agent ?? (environment.OPENAI_BASE_URL ? 'openai' : 'langchain')
  const known = AGENTS.find((name) => name === named)
  if (!known) throw new UsageError(`There is no agent "${named}". There is: ${AGENTS.join(', ')}.`)
  return { help: help ?? false, json: json ?? false, only: scenes.filter((name) => asked.includes(name)), agent: known }
}

function parse(args: readonly string[]) {
  try {
    const options = {
      help: { type: 'boolean', short: 'h' },
      json: { type: 'boolean' },
      only: { type: 'string' },
      agent: { type: 'string' },
    } as const
    return parseArgs({ args: [...args], options, strict: true }).values
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause })
  }
}

/** Returns the usage of the demo. */
export function usage(scenes: readonly string[]): string {
  return `Plays the same agent steps with a session a call and with one session, and prints what comes out.

  pnpm demo:stateful [options]

  --only <scenes>   plays these alone, separated by commas: ${scenes.join(', ')}
  --agent <agent>   who takes the steps: langchain (as ever), ai-sdk, or openai, which needs a real model
  --json            prints a line of JSON for each row
  --help            prints this

With langchain and ai-sdk a scripted model takes the steps. With OPENAI_BASE_URL set, the model OPENAI_MODEL
behind it does (with OPENAI_API_KEY, where it wants one), and finds its own.

Exits with 0 when all came out as expected, with 1 when something did not, with 2 when it was called wrongly.`
}
