import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ReadTrace, type StartedGateway, startGateway } from './start-gateway.ts'
import { guessing, startTokenEngine, type TokenEngine } from './token-engine.ts'

const AGENT = fileURLToPath(new URL('./kill-agent.ts', import.meta.url))

/** What was left after the kills. */
export interface KillFigures {
  readonly kills: number
  readonly answers: number
  /** Answers that an agent received, and which the trainer does not get, or with other tokens. */
  readonly lost: number
  /** Tokens of those. */
  readonly lostTokens: number
  /** Answers that the trainer gets twice. */
  readonly twice: number
  /** Sampled answers that nobody received, as the gateway was killed before it had read them. */
  readonly unread: number
  readonly problems: readonly string[]
}

/**
 * Kills agents and gateways in the middle of conversations: at a request, when the engine has it, or when it has sent
 * its answer. The gateway is started again over its folder, and an agent from its beginning, in its session.
 */
export async function killAgentsAndGateways(
  folder: string,
  kills: number,
  say: (text: string) => void,
): Promise<KillFigures> {
  let killed = 0
  let number = 0
  /** Ends a victim at every fifth moment: two gateways, then two agents, at a request and at an answer in turn. */
  const strike = () => {
    number += 1
    if (killed >= kills || number % 5 !== 0) return
    const victim = killed % 4 < 2 ? gateway.process : agent
    if (!victim || victim.killed) return
    killed += 1
    victim.kill('SIGKILL')
  }
  await using engine = await startTokenEngine(guessing(12), { onRequest: strike, onAnswered: strike })
  let agent: ChildProcess | null = null
  let gateway: StartedGateway = await startGateway(folder, engine.url)
  const port = Number(new URL(gateway.url).port)
  let isOver = false
  /** Starts a gateway again whenever one has ended. */
  const watch = (async () => {
    for (;;) {
      if (gateway.process.exitCode === null && gateway.process.signalCode === null) await once(gateway.process, 'exit')
      if (isOver) return
      gateway = await startGateway(folder, engine.url, port)
    }
  })()

  const ids: string[] = []
  for (let i = 0; killed < kills; i++) {
    const id = `kill-${i}`
    ids.push(id)
    for (let hasEnded = false; !hasEnded; ) {
      const key = await opened(() => gateway.open(id))
      agent = spawn(process.execPath, [AGENT, gateway.url, key, join(folder, `${id}.txt`)], { stdio: 'ignore' })
      const [code] = await once(agent, 'exit')
      hasEnded = code === 0
    }
    say(`  ${killed} of ${kills} kills`)
  }
  const figures = await compare(ids, folder, engine, () => gateway)
  isOver = true
  gateway.process.kill('SIGKILL')
  await watch
  return { ...figures, kills: killed }
}

/** Tries until a gateway that was started again listens. */
async function opened<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++)
    try {
      return await attempt()
    } catch (error) {
      if (tries > 600) throw error
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
}

async function compare(
  ids: readonly string[],
  folder: string,
  engine: TokenEngine,
  gatewayOf: () => StartedGateway,
): Promise<Omit<KillFigures, 'kills'>> {
  const problems: string[] = []
  const kept = new Set<string>()
  let [answers, lost, lostTokens, twice] = [0, 0, 0, 0]
  for (const id of ids) {
    const { turns } = await opened(() => gatewayOf().read<ReadTrace>(id, 'trace'))
    const own = new Map<string, ReadTrace['turns'][number]>()
    for (const turn of turns) {
      const text = turn.response.choices[0].message.content
      if (own.has(text)) twice += 1
      own.set(text, turn)
      kept.add(text)
    }
    const notes = join(folder, `${id}.txt`)
    const received = existsSync(notes) ? new Set(readFileSync(notes, 'utf8').trim().split('\n')) : []
    for (const text of received) {
      answers += 1
      const turn = own.get(text)
      const { prompt = [], ids: tokens = [], scores = [] } = engine.findSampled(text) ?? {}
      const same =
        turn &&
        JSON.stringify([turn.prompt_token_ids, turn.completion_token_ids, turn.per_token_logps]) ===
          JSON.stringify([prompt, tokens, scores])
      if (same) continue
      lost += 1
      lostTokens += tokens.length
      problems.push(`${id}: ${text} is ${turn ? 'kept with other tokens' : 'lost'}`)
    }
    const drifted = turns.filter(({ metadata }) => metadata.drifts_from !== null).length
    if (drifted > 0) problems.push(`${id}: ${drifted} answers drifted`)
  }
  return { answers, lost, lostTokens, twice, unread: engine.sampled.length - kept.size, problems }
}
