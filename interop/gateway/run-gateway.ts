import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report, Tally } from '../report.ts'
import { ACP_AGENTS, playAcpAgent } from './acp-agents.ts'
import { chatOfOpenAi, generateContentOfAiSdk, messagesOfAiSdk, type Play, responsesOfOpenAi } from './js-clients.ts'
import { killAgentsAndGateways } from './kills.ts'
import { type ReadTrace, type StartedGateway, startGateway } from './start-gateway.ts'
import { guessing, startTokenEngine, type TokenEngine } from './token-engine.ts'

const USAGE = `Usage: pnpm interop gateway [--only <client,…>] [--agents <agent,…>] [--kills <count>] [--json]

Plays conversations through episodic gateway with the official clients of language models, in each API that they speak,
streamed and not. Each answer has to be kept with the tokens that the engine sampled, and each prompt has to begin with
them. Then agents and gateways are killed in the middle of conversations, and no token may be lost.

  --only   clients: openai, anthropic, google-genai, langchain, openai-js, ai-sdk
  --agents agents of the Agent Client Protocol that play an episode each: ${Object.keys(ACP_AGENTS).join(', ')}. npx installs the
           first two, of 400 MB each; npm install --global @google/gemini-cli opencode-ai @github/copilot
           @moonshot-ai/kimi-code @qwen-code/qwen-code installs the others
  --path   a folder of programs that are found first, where agents are installed
  --kills  how many. Default: 200
  --json   print nothing but the line of JSON that ends every run`

const PROGRAM = fileURLToPath(new URL('../python/gateway_client.py', import.meta.url))

/** The clients in Python, the package whose version is theirs, and the APIs that they speak. */
const PYTHON = {
  openai: { package: 'openai', dialects: ['chat', 'responses'] },
  anthropic: { package: 'anthropic', dialects: ['messages'] },
  'google-genai': { package: 'google-genai', dialects: ['generateContent'] },
  langchain: { package: 'langchain-core', dialects: ['chat', 'responses', 'messages', 'generateContent'] },
} as const

const JAVASCRIPT: Readonly<Record<string, Readonly<Record<string, Play>>>> = {
  'openai-js': { chat: chatOfOpenAi, responses: responsesOfOpenAi },
  'ai-sdk': { messages: messagesOfAiSdk, generateContent: generateContentOfAiSdk },
}

/** Plays through the gateway from the command line. */
export async function runGateway(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    only: { type: 'string' },
    agents: { type: 'string' },
    path: { type: 'string' },
    kills: { type: 'string', default: '200' },
  })
  if (!options) return null
  const { say } = options
  const only = options.only?.split(',')
  const isAsked = (name: string) => only === undefined || only.includes(name)
  const folder = mkdtempSync(join(tmpdir(), 'episodic-gateway-'))
  const clients: Record<string, Tally> = {}
  try {
    await using engine = await startTokenEngine(guessing())
    await using gateway = await startGateway(join(folder, 'played'), engine.url)
    for (const [name, { package: pinned, dialects }] of Object.entries(PYTHON)) {
      if (!isAsked(name)) continue
      const { python, versionOf } = openPythonEnvironment('model-clients.txt', console.error)
      using client = startPython(python, name)
      const plays = Object.fromEntries(dialects.map((dialect) => [dialect, client.play(dialect)]))
      clients[`${name} ${versionOf(pinned)}`] = await playCells(name, plays, engine, gateway, say)
    }
    for (const [name, plays] of Object.entries(JAVASCRIPT))
      if (isAsked(name)) clients[name] = await playCells(name, plays, engine, gateway, say)
    for (const name of options.agents?.split(',') ?? []) {
      if (!(name in ACP_AGENTS))
        throw new Error(`There is no agent ${name}. There is: ${Object.keys(ACP_AGENTS).join(', ')}.`)
      const problem = await playAcpAgent(name, options.path, engine, folder).catch((error: Error) => error.message)
      say(problem === null ? `✓ ${name} over ACP` : `✗ ${name} over ACP: ${problem}`)
      clients[name] = { passed: problem === null ? 1 : 0, failed: problem === null ? 0 : 1 }
    }
    const kills = Number(options.kills)
    if (kills === 0) return { clients }
    const { problems, ...figures } = await killAgentsAndGateways(join(folder, 'killed'), kills, say)
    for (const problem of problems) say(`✗ ${problem}`)
    const isKept = problems.length === 0 && figures.twice === 0
    say(`${isKept ? '✓' : '✗'} ${figures.kills} kills, ${figures.answers} answers, ${figures.lostTokens} tokens lost`)
    clients.kills = { passed: isKept ? 1 : 0, failed: isKept ? 0 : 1 }
    return { clients, details: { kills: figures } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Plays each API of a client, streamed and not, and compares what the gateway kept with what the engine sampled. */
async function playCells(
  name: string,
  plays: Readonly<Record<string, Play>>,
  engine: TokenEngine,
  gateway: StartedGateway,
  say: (text: string) => void,
): Promise<Tally> {
  let [passed, failed] = [0, 0]
  for (const [dialect, play] of Object.entries(plays))
    for (const isStreamed of [false, true]) {
      const id = `${name}-${dialect}-${isStreamed ? 'streamed' : 'whole'}`
      const problem = await playCell(id, play, isStreamed, engine, gateway).catch((error: Error) => error.message)
      say(`${problem === null ? '✓' : '✗'} ${id}${problem === null ? '' : `: ${problem}`}`)
      if (problem === null) passed += 1
      else failed += 1
    }
  return { passed, failed }
}

/** Resolves with what is wrong; `null` if nothing is. */
async function playCell(
  id: string,
  play: Play,
  isStreamed: boolean,
  engine: TokenEngine,
  gateway: StartedGateway,
): Promise<string | null> {
  const key = await gateway.open(id)
  const texts = await play({ root: gateway.url, key, isStreamed })
  if (texts.length !== 4) return `it had ${texts.length} answers, and not 4: ${JSON.stringify(texts)}`
  const { turns } = await gateway.read<ReadTrace>(id, 'trace')
  const { sequences } = await gateway.read<{ sequences: readonly object[] }>(id, 'sequences')
  if (turns.length !== texts.length) return `${turns.length} answers were kept of ${texts.length}`
  for (const [i, text] of texts.entries()) {
    const { prompt, ids, scores } = engine.findSampled(text) ?? {}
    const turn = turns[i]
    const kept = [turn?.prompt_token_ids, turn?.completion_token_ids, turn?.per_token_logps]
    if (JSON.stringify(kept) !== JSON.stringify([prompt, ids, scores])) return `the tokens of answer ${i} are others`
    if (turn?.metadata.drifts_from) return `answer ${i} drifted`
  }
  return sequences.length === 1 ? null : `there are ${sequences.length} sequences, and not one`
}

/** Starts a client in Python, which plays one conversation after another. */
function startPython(python: string, name: string) {
  const child: ChildProcessWithoutNullStreams = spawn(python, [PROGRAM, name], { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stderr.resume()
  const lines = createInterface(child.stdout)
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}.`)))
  ended.catch(() => {})
  return {
    play:
      (dialect: string): Play =>
      async ({ root, key, isStreamed }) => {
        const answered = once(lines, 'line')
        child.stdin.write(`${JSON.stringify({ dialect, root, key, stream: isStreamed })}\n`)
        const [line] = (await Promise.race([answered, ended])) as [string]
        const { texts, error } = JSON.parse(line) as { texts?: string[]; error?: string }
        if (!texts) throw new Error(error)
        return texts
      },
    [Symbol.dispose]: () => void child.kill(),
  }
}
