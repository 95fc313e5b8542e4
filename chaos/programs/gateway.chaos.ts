/**
 * Hostile agents at `episodic gateway`: they try every route of trainers, sessions of others, values that their engine
 * quotes in its refusals, large bodies, half of a body, and other origins. An honest agent is answered the same, byte
 * for byte, as without them, its trainer gets every token, and nobody reads the key of the engine.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Rng } from '@episodic/protocol'
import { type ReadTrace, type StartedGateway, startGateway } from '../../interop/gateway/start-gateway.ts'
import { attack, sendHalf } from '../hostile/hostile-agent.ts'
import { type QuotingEngine, startQuotingEngine } from '../hostile/quoting-engine.ts'
import { resourcesOf } from '../processes/resources.ts'
import { runTrial } from '../trial.ts'

const KEY = 'sk-chaos/0123456789+abcdefghij=='
/** Letters of the key that nobody may read, in the forms in which the engine quotes it. */
const PART = 8
const PARTS = [KEY, Buffer.from(KEY).toString('base64')].flatMap((form) =>
  Array.from({ length: form.length - PART + 1 }, (_, at) => form.slice(at, at + PART)),
)
/** What the trainer fixes. */
const FIXED = { temperature: 1, max_tokens: 500 }
/** Halves of requests that are open at once. */
const MOST_HALVES = 12
/** Bytes that the gateway may grow by under the attack: bodies that are held, and a heap that settles. */
const GROWTH = 900 * 1_048_576

await runTrial(
  'gateway',
  { agents: '16', requests: '4000', turns: '200' },
  async ({ rng, quick, options, folder, stack }) => {
    const agents = quick ? 6 : Number(options.agents)
    const requests = quick ? 120 : Number(options.requests)
    const turns = quick ? 20 : Number(options.turns)
    process.env.OPENAI_API_KEY = KEY
    const engine = stack.use(await startQuotingEngine(KEY))
    const fixed = Object.entries(FIXED).flatMap(([name, value]) => ['--model-option', `${name}=${value}`])
    const start = async (name: string) => stack.use(await startGateway(join(folder, name), engine.url, 0, fixed))

    const alone = await start('alone')
    const expected = await playHonest(alone, engine, await alone.open('honest'), turns)
    const gateway = await start('attacked')
    const honestKey = await gateway.open('honest')
    const ids = Array.from({ length: agents }, (_, i) => `hostile-${i}`)
    const keys = await Promise.all(ids.map((id) => gateway.open(id)))
    const pid = gateway.process.pid as number
    const before = resourcesOf(pid)
    const breaches: string[] = []
    let [sent, halves, refused, closed, reached, leaked, most] = [0, 0, 0, 0, 0, 0, 0]
    const open: ReturnType<typeof sendHalf>[] = []
    const attackAs = async (own: Rng, key: string, id: string) => {
      const target = { url: gateway.url, key, sessions: [id, 'honest', ...ids] }
      for (let i = 0; i < requests / agents; i++) {
        if (own.int(0, 3) === 0) {
          halves += 1
          open.push(sendHalf(own, target))
          if (open.length > MOST_HALVES) open.shift()?.destroy()
        }
        const attempt = await attack(own, target)
        sent += 1
        if (!attempt) {
          closed += 1
          continue
        }
        const { what, status, text, isForbidden } = attempt
        if (status >= 400) refused += 1
        if (isForbidden && status < 400) {
          reached += 1
          breaches.push(`${what} was answered with ${status}.`)
        }
        const secrets = [...PARTS, honestKey, ...keys.filter((other) => other !== key)]
        if (secrets.some((secret) => text.includes(secret))) {
          leaked += 1
          breaches.push(`${what} was answered with a secret: ${text.slice(0, 300)}`)
        }
        most = Math.max(most, resourcesOf(pid).resident - before.resident)
      }
    }
    const attacking = Promise.all(keys.map((key, i) => attackAs(rng.stream(`agent ${i}`), key, ids[i] as string)))
    const played = await playHonest(gateway, engine, honestKey, turns)
    await attacking
    for (const socket of open) socket.destroy()

    let differing = 0
    for (const [turn, { asked, answer }] of expected.entries())
      if (played[turn]?.asked !== asked || played[turn]?.answer !== answer) {
        differing += 1
        breaches.push(`Turn ${turn} of the honest agent is another: ${played[turn]?.answer ?? 'no answer'}`)
      }
    const trace = await gateway.read<ReadTrace>('honest', 'trace')
    const lost = turns - trace.turns.filter(({ completion_token_ids: tokens }) => tokens.length > 0).length
    if (lost !== 0) breaches.push(`${lost} answers of the honest agent are not kept.`)
    const isFixed = (body: string) => {
      const asked = JSON.parse(body)
      return (
        !('max_completion_tokens' in asked) && Object.entries(FIXED).every(([name, value]) => asked[name] === value)
      )
    }
    const changed = [...engine.asked.values()].flat().filter((body) => !isFixed(body))
    if (changed.length > 0)
      breaches.push(`${changed.length} requests lack what the trainer fixed: ${changed[0]?.slice(0, 300)}`)
    const kept = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const { parentPath, name } of kept)
      if (PARTS.some((part) => readFileSync(join(parentPath, name), 'utf8').includes(part))) {
        leaked += 1
        breaches.push(`${name} has the key of the engine.`)
      }
    if (most > GROWTH) breaches.push(`The gateway grew by ${most} bytes.`)
    return {
      breaches,
      figures: {
        ...{ agents, sent, refused, closed, halves, reached, leaked, turns, differing, lost },
        ...{ changed: changed.length, grownMebibytes: Math.round(most / 1_048_576) },
      },
    }
  },
)

/** Plays a conversation. Resolves with what the engine was asked in each turn, and what the agent was answered. */
async function playHonest({ url }: StartedGateway, engine: QuotingEngine, key: string, turns: number) {
  const first = 'I am honest.'
  const begun = engine.asked.get(first)?.length ?? 0
  const messages: object[] = [{ role: 'user', content: first }]
  const answers: string[] = []
  for (let turn = 0; turn < turns; turn++) {
    const body = JSON.stringify({ model: 'm', tool_choice: 'auto', top_p: 0.5, user: 'anna', seed: turn, messages })
    const answer = await fetch(`${url}/${key}/v1/chat/completions`, { method: 'POST', body })
    const text = await answer.text()
    answers.push(`${answer.status} ${text}`)
    if (!answer.ok) break
    messages.push(JSON.parse(text).choices[0].message, { role: 'user', content: `Go on ${turn}.` })
  }
  const asked = engine.asked.get(first)?.slice(begun) ?? []
  return answers.map((answer, turn) => ({ answer, asked: asked[turn] }))
}
