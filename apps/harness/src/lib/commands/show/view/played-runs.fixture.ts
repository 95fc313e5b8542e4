import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Answering, bisecting, calling, saying, startChatServer } from '@episodic/models/chat-server.fixture'
import type { Json, JsonObject } from '@episodic/protocol'
import { exampleWorld, type Workshop } from '../../../fixtures/episodic.fixture.ts'

const KUHN = fileURLToPath(import.meta.resolve('@episodic/classics/kuhn-poker'))

/** What the model of {@link playRuns} says, so that tests can look for it. */
export const REASONING = 'Half of what is left lies in the middle.'
export const TEXT = 'Let me try the middle.'

/**
 * Plays runs of every kind into `runs/` of a workshop: plain, random, by a model that also fails, of seats, and of
 * trees.
 */
export async function playRuns(workshop: Workshop): Promise<void> {
  const guessing = exampleWorld('number-guessing')
  await using server = await startChatServer(answerBadly)
  const runs = [
    [guessing, '--tasks', '100', '--rollouts', '4', '--policy', 'solver', '--out', 'runs/plain'],
    [guessing, '--tasks', '100', '--rollouts', '4', '--policy', 'random', '--out', 'runs/random'],
    [
      ...[guessing, '--tasks', '10', '--rollouts', '4', '--policy', 'llm:stub', '--base-url', server.url],
      ...['--file', '{"prices":{"prompt":2,"completion":10}}', '--concurrency', '4', '--out', 'runs/model'],
    ],
    [KUHN, '--tasks', '10', '--policy', 'random', '--out', 'runs/game'],
    [exampleWorld('frozen-lake'), '--tasks', '4', '--policy', 'random', '--branch', '4@2', '--out', 'runs/branched'],
  ]
  for (const args of runs) {
    const { status, err } = await workshop.main(['run', ...args], { env: { OPENAI_API_KEY: 'sk-of-this-test' } })
    if (status !== 0) throw new Error(`episodic run ${args.join(' ')}: ${err}`)
  }
}

/** Reasons, speaks, calls twice, and now and then fails: 503, a body that breaks off, wrong JSON, and no call. */
const answerBadly: Answering = (request, number, response) => {
  if (number % 11 === 5) {
    response.writeHead(503).end('{"error":{"message":"overloaded"}}')
    return null
  }
  if (number % 13 === 7) {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"chat_1","choices":[{"index":')
    return null
  }
  if (number % 17 === 9) return calling('guess', '{"value": ')
  if (number % 19 === 11) return saying({ role: 'assistant', content: 'I would rather not say.' })
  const answer = bisecting(request) as { choices: { message: { tool_calls: object[] } }[] }
  const [choice] = answer.choices as [(typeof answer.choices)[number]]
  const [call] = choice.message.tool_calls as [object]
  const another = { ...call, id: 'call_2', function: { name: 'guess', arguments: '{"value":7}' } }
  const message = { ...choice.message, content: TEXT, reasoning: REASONING, tool_calls: [call, another] }
  const usage = {
    ...{ prompt_tokens: 1_204, completion_tokens: 88, total_tokens: 1_292 },
    ...{ prompt_tokens_details: { cached_tokens: 900 }, completion_tokens_details: { reasoning_tokens: 36 } },
  }
  const metadata = { weight_version: `step-${Math.floor(number / 60)}` }
  return { ...answer, choices: [{ ...choice, message }], usage, metadata }
}

/**
 * Copies a run, with a payload in place of each text that a world, a model or a person wrote. Ids of tasks stay, so
 * that attempts of a task are still of one task.
 */
export function copyWithPayloads(workshop: Workshop, from: string, to: string, payloads: readonly string[]): void {
  const read = (file: string) => readFileSync(join(workshop.folder, 'runs', from, file), 'utf8')
  mkdirSync(join(workshop.folder, 'runs', to))
  const write = (file: string, text: string) => writeFileSync(join(workshop.folder, 'runs', to, file), text)
  let next = 0
  const attacked = (value: Json, key = ''): Json => {
    if (typeof value === 'string') return KEPT.has(key) ? value : `${payloads[next++ % payloads.length]}`
    if (Array.isArray(value)) return value.map((item) => attacked(item, key))
    if (typeof value !== 'object' || value === null) return value
    // Why an episode was cut off, or its player stopped, is one of a few words, and a line with another one is no line.
    const { kind } = value as JsonObject
    const isReason = (name: string) => name === 'reason' && (key === 'stopped' || kind === 'truncated')
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, isReason(name) ? item : attacked(item as Json, name)]),
    )
  }
  const lines = read('episodes.jsonl').trim().split('\n')
  const records = lines.map((line) => attacked(JSON.parse(line)))
  write('episodes.jsonl', records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  write('run.json', JSON.stringify({ ...JSON.parse(read('run.json')), name: payloads[0] }))
}

/** Strings with a meaning of their own: they are not free text. */
const KEPT = new Set(['id', 'kind', 'split', 'role', 'from', 'refused', 'by', 'seal', 'chain', 'stateHash'])
