import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  bisecting,
  type ChatRequest,
  type ChatServer,
  calling,
  saying,
  startChatServer,
} from '@episodic/models/chat-server.fixture'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, readMatches } from '../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const at = (...path: string[]) => join(workshop.folder, ...path)

let server: ChatServer | null = null
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = null
})

const GIVING_UP = { role: 'assistant', content: 'I give up. This cannot be done.' }

/**
 * `quitter` gives up after three guesses, `mute` at once; `trier` guesses to the end, and poorly from its eighth guess
 * on.
 */
function answerAs({ model, messages, ...request }: ChatRequest): object {
  const guesses = messages.filter(({ role }) => role === 'tool').length
  if (model === 'quitter' && guesses >= 3) return saying(GIVING_UP)
  if (model === 'mute') return saying(GIVING_UP)
  if (model === 'trier' && guesses >= 7) return calling('guess', { value: 1 })
  return bisecting({ model, messages, ...request } as ChatRequest)
}

const start = async () => {
  server = await startChatServer(answerAs)
  return ['--base-url', server.url, '--seed', '3', '--tasks', '10']
}

async function summaryOf(run: string) {
  return JSON.parse(readFileSync(at(run, 'summary.json'), 'utf8'))
}

describe('a model that gives up', () => {
  it('is counted as not succeeded with its return so far, and ranks below one that tries', async () => {
    const options = [...(await start()), '--policy', 'llm:quitter', '--policy', 'llm:trier', '--rollouts', '2']
    const { status, out } = await workshop.main(['run', world, ...options, '--set', 'both', '--json'])
    expect(status).toBe(0)
    const [quitter, trier] = JSON.parse(out).members.map(({ summary }: { summary: unknown }) => summary)
    expect(quitter.counts).toMatchObject({ scheduled: 20, finished: 20, failed: 0 })
    expect(quitter.ends.truncated).toEqual([{ name: 'no-action', count: expect.any(Number) }])
    expect(trier.ends.truncated.map(({ name }: { name: string }) => name)).not.toContain('no-action')
    expect(quitter.success.overall.rate).toBeLessThan(trier.success.overall.rate)
    expect(quitter.returns.unshaped.mean.count).toBe(20)
    const compared = await workshop.main(['compare', 'runs/both', '--json'])
    expect(JSON.parse(compared.out).success).toMatchObject({
      a: quitter.success.overall.rate,
      b: trier.success.overall.rate,
    })
    const shown = await workshop.main(['run', '--resume', 'runs/both'])
    const rateOf = (player: string) => Number(new RegExp(`${player} +([0-9.]+) %`).exec(shown.out)?.[1])
    expect(rateOf('llm:quitter')).toBeLessThan(rateOf('llm:trier'))
  })

  it('has lines that say so, and that a replay reproduces', async () => {
    const options = [...(await start()), '--policy', 'llm:quitter']
    await workshop.main(['run', world, ...options, '--out', 'quit', '--shaping'])
    const quit = readEpisodes(at('quit')).filter(({ outcome }) => outcome.kind === 'finished' && outcome.stopped)
    expect(quit.length).toBeGreaterThan(2)
    for (const { outcome, steps, returns, undecided } of quit) {
      expect(outcome).toMatchObject({
        end: { kind: 'truncated', reason: 'no-action' },
        stopped: { reason: 'no-action', message: expect.stringContaining('I give up. This cannot be done.') },
      })
      expect(steps).toHaveLength(3)
      expect(returns?.total).toBeCloseTo(steps.reduce((sum, { reward }) => sum + reward.total, 0))
      expect(undecided).toHaveLength(3)
    }
    const replay = await workshop.main(['replay', 'quit', '--json'])
    expect(JSON.parse(replay.out)).toMatchObject({ replayed: 10, diverged: 0, notReplayable: 0 })
  })

  it('is not played again by --retry-failed all', async () => {
    const options = [...(await start()), '--policy', 'llm:mute']
    const first = await workshop.main(['run', world, ...options, '--out', 'mute'])
    expect(first.status).toBe(0)
    const asked = server?.requests.length
    const again = await workshop.main([
      ...['run', world, ...options, '--out', 'mute', '--resume', '--retry-failed', 'all'],
    ])
    expect([again.status, server?.requests.length]).toEqual([0, asked])
    expect(await summaryOf('mute')).toMatchObject({
      counts: { finished: 10, failed: 0, steps: 0 },
      ends: { truncated: [{ name: 'no-action', count: 10 }] },
      success: { overall: { successes: 0, rate: 0 } },
      returns: { unshaped: { mean: { mean: 0 } } },
      retried: null,
    })
    expect(JSON.parse((await workshop.main(['replay', 'mute', '--json'])).out)).toMatchObject({ replayed: 10 })
  })

  it('is out of time where an episode may take no longer, whatever its player waits for', async () => {
    server = await startChatServer(({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? new Promise(() => {}) : calling('guess', { value: 1 }),
    )
    const options = [
      '--policy',
      'llm:hangs',
      '--base-url',
      server.url,
      '--tasks',
      '2',
      '--file',
      '{"episodeTimeout":1}',
    ]
    const { status } = await workshop.main(['run', world, ...options, '--out', 'late'])
    expect(status).toBe(0)
    const { counts, ends } = await summaryOf('late')
    expect([counts, ends.truncated]).toMatchObject([{ finished: 2, failed: 0 }, [{ name: 'out-of-time', count: 2 }]])
    const replay = await workshop.main(['replay', 'late', '--json'])
    expect(JSON.parse(replay.out)).toMatchObject({ replayed: 2, diverged: 0 })
    const nine = ['--file', '{"episodeTimeout":9}', '--out', 'late', '--resume']
    const longer = await workshop.main(['run', world, ...options, ...nine])
    expect([longer.status, longer.err]).toEqual([1, expect.stringContaining('episodeTimeout: was 1, now 9')])
    const agent = [
      '--policy',
      'process:sleep 600',
      '--tasks',
      '1',
      '--file',
      '{"episodeTimeout":1}',
      '--out',
      'late-agent',
    ]
    expect(await workshop.main(['run', world, ...agent])).toMatchObject({ status: 0 })
    expect((await summaryOf('late-agent')).ends.truncated).toEqual([{ name: 'out-of-time', count: 1 }])
  })
})

describe('a player of a seat that gives up', () => {
  it('is named, ends the match for all without rules for it, and is replayed', async () => {
    server = await startChatServer(() => saying(GIVING_UP))
    const poker = fileURLToPath(import.meta.resolve('@episodic/classics/kuhn-poker'))
    const seats = ['--seat', 'first=random', '--seat', 'second=llm:mute', '--base-url', server.url]
    const { status, err } = await workshop.main(['run', poker, ...seats, '--tasks', '6', '--out', 'nim'])
    expect([status, err]).toEqual([0, expect.any(String)])
    for (const { seats, outcome } of readMatches(at('nim'))) {
      expect(outcome).toEqual({ kind: 'finished' })
      expect(seats.second).toMatchObject({ end: { reason: 'no-action' }, stopped: { reason: 'no-action' } })
      expect(seats.first).toMatchObject({ end: { kind: 'truncated', reason: 'closed' } })
      expect(seats.first?.stopped).toBeUndefined()
    }
    expect(JSON.parse((await workshop.main(['replay', 'nim', '--json'])).out)).toMatchObject({ replayed: 6 })
  })

  it('loses by the rules where they say what an absent seat loses', async () => {
    server = await startChatServer(() => saying(GIVING_UP))
    const nim = fileURLToPath(new URL('../fixtures/nim.fixture.ts', import.meta.url))
    const seats = ['--seat', 'ann=random', '--seat', 'bob=llm:mute', '--base-url', server.url]
    await workshop.main(['run', nim, ...seats, '--tasks', '4', '--out', 'forfeit'])
    for (const { seats, steps } of readMatches(at('forfeit'))) {
      expect(seats.bob).toMatchObject({ end: { reason: 'forfeit' }, stopped: { reason: 'no-action' } })
      expect(steps.at(-1)?.completions).toHaveLength(3)
    }
    expect(JSON.parse((await workshop.main(['replay', 'forfeit', '--json'])).out)).toMatchObject({ replayed: 4 })
  })
})
