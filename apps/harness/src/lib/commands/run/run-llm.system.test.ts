import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bisecting, type ChatRequest, type ChatServer, startChatServer } from '@episodic/models/chat-server.fixture'
import { type Completion, type EpisodeRecord, type RecordedStep, requestsOf } from '@episodic/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, sealAgain, type Workshop } from '../../fixtures/episodic.fixture.ts'

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
})
afterAll(() => workshop[Symbol.dispose]())

let server: ChatServer
afterEach(() => server[Symbol.asyncDispose]())

const KEY = 'sk-nobody-may-read-this'

/** Replaces what `redact` names in a test. */
function without(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/whole n[a-z]+/g, '[redacted]'))
}

function run(...options: string[]) {
  const args = ['run', exampleWorld('number-guessing'), '--policy', 'llm:bisect', '--base-url', server.url]
  return workshop.main([...args, '--tasks', '6', ...options], { env: { OPENAI_API_KEY: KEY } })
}

describe('episodic run --policy llm:<model>', () => {
  it('plays with a model, and shows its tokens and cost in terminal, summary, report and records', async () => {
    server = await startChatServer(bisecting)
    const { status, out } = await run('--file', '{"prices":{"prompt":2,"completion":10}}', '--out', 'played')
    expect(status).toBe(0)
    const folder = join(workshop.folder, 'played')
    const episodes = readEpisodes(folder)
    const requests = episodes.reduce((sum, { steps }) => sum + steps.length, 0)
    const { tokens, counts, time } = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8'))
    expect(counts).toMatchObject({ finished: 6, failed: 0 })
    expect(requests).toBe(server.requests.length)
    expect(tokens).toEqual({
      episodes: 6,
      requests,
      prompt: 1_000 * requests,
      completion: 10 * requests,
      cost: expect.closeTo(0.0021 * requests, 9),
    })
    expect(out).toMatch(/tokens +[\d,]+ /)
    expect(out).toMatch(/cost +0\.\d+/)
    // The time of the world, and that of the model.
    expect(out).toMatch(/world step +[\d.]+ (µs|ms) +median; p90 /)
    expect(out).toMatch(/model answer +[\d.]+ m?s +median; p90 /)
    expect(time.model.bins.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(requests)
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('>Tokens<')
    for (const file of ['episodes.jsonl', 'run.json', 'report.html'])
      expect(readFileSync(join(folder, file), 'utf8')).not.toContain(KEY)
    const replay = await workshop.main(['replay', 'played', '--world', exampleWorld('number-guessing'), '--json'])
    expect(JSON.parse(replay.out)).toMatchObject({ replayed: 6, diverged: 0 })
  })

  it('keeps what the model was sent in the lines of each process, without what redact names', async () => {
    server = await startChatServer((request) => ({ ...bisecting(request), model: 'm' }))
    const options = ['--processes', '2', '--concurrency', '2', '--file', '{"redact":"whole n[a-z]+"}', '--out', 'sent']
    expect(await run(...options)).toMatchObject({ status: 0 })
    const folder = join(workshop.folder, 'sent')
    const episodes = readEpisodes(folder) as EpisodeRecord[]
    const rebuilt = episodes.flatMap((episode) => requestsOf(episode).map((request) => JSON.stringify(request)))
    const redacted = server.requests.map(({ messages, tools }) => {
      const [system, user, ...rest] = messages
      // What the environment answered is in the line as it was, for a replay.
      const sent = { messages: [without(system), without(user), ...rest], tools: without(tools) }
      return JSON.stringify(sent)
    })
    expect(rebuilt.toSorted()).toEqual(redacted.toSorted())
    expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')).played).toMatchObject({ transcript: 'full' })
    const replay = await workshop.main(['replay', 'sent', '--world', exampleWorld('number-guessing'), '--json'])
    expect(JSON.parse(replay.out)).toMatchObject({ replayed: 6, diverged: 0 })
    expect(await workshop.main(['report', 'sent'])).toMatchObject({ status: 0 })
  })

  it('plays the calls that its lines say, so that replay finds one that is not the action of its step', async () => {
    server = await startChatServer(bisecting)
    expect(await run('--tasks', '2', '--out', 'calls')).toMatchObject({ status: 0 })
    const folder = join(workshop.folder, 'calls')
    const [first, ...others] = readEpisodes(folder) as [EpisodeRecord, ...EpisodeRecord[]]
    const replay = async (change: Partial<NonNullable<Completion['calls']>[number]>, cut?: number) => {
      const [step, ...later] = first.steps as [RecordedStep, ...RecordedStep[]]
      const [said] = step.completions as [Completion]
      const calls = said.calls!.map((call) => ({ ...call, ...change }))
      const edited = {
        ...first,
        steps: [{ ...step, completions: [{ ...said, calls, ...(cut && { cut }) }] }, ...later],
      }
      const lines = [sealAgain(edited), ...others].map((line) => `${JSON.stringify(line)}\n`)
      writeFileSync(join(folder, 'episodes.jsonl'), lines.join(''))
      const { out } = await workshop.main(['replay', 'calls', '--world', exampleWorld('number-guessing'), '--json'])
      return JSON.parse(out).divergences
    }
    const found = (field: string) => [{ step: 1, field, cause: 'action-edited' }]
    expect(await replay({ arguments: '{"value":7}' })).toMatchObject(found('action.arguments.value'))
    expect(await replay({ name: 'peek' })).toMatchObject(found('action.tool'))
    expect(await replay({ name: 'peek', arguments: '[redacted]' })).toMatchObject(found('action.tool'))
    expect(await replay({ arguments: '{"value":' })).toMatchObject(found('action'))
    // Nobody knows these arguments, or says that they were played.
    expect(await replay({ arguments: '{"value":[redacted]}' })).toEqual([])
    expect(await replay({ arguments: '{"val … ue":7}' }, 9)).toEqual([])
    expect(await replay({ arguments: '{"value":7}', played: false })).toEqual([])
    expect(await replay({})).toEqual([])
  })

  it('plays episodes again that the model did not answer, keeps the failures, and reports the first tries', async () => {
    let down = true
    // It answers all requests of some tasks, and none of the others, also not again.
    const isDown = ({ messages }: ChatRequest) => down && /[02468] to /.test(messages[1]?.content ?? '')
    server = await startChatServer((request, _, response) => {
      if (!isDown(request)) return bisecting(request)
      response.writeHead(503, { 'x-should-retry': 'false' }).end('{"error":{"message":"overloaded"}}')
      return null
    })
    const options = ['--out', 'retried']
    await run(...options)
    const folder = join(workshop.folder, 'retried')
    const before = readFileSync(join(folder, 'episodes.jsonl'), 'utf8')
    const failed = readEpisodes(folder).filter(({ outcome }) => outcome.kind === 'failed').length
    expect(failed).toBeGreaterThan(0)
    down = false
    const again = await run(...options, '--resume', '--retry-failed', '--json')
    expect(again.status).toBe(0)
    expect(JSON.parse(again.out)).toMatchObject({
      counts: { scheduled: 6, finished: 6, failed: 0, unresolved: 0, conflicts: 0 },
      retried: { episodes: failed, plays: failed, finished: failed },
      success: { overall: { count: 6 }, firstTry: { count: 6 - failed } },
    })
    const after = readFileSync(join(folder, 'episodes.jsonl'), 'utf8')
    expect(after.startsWith(before)).toBe(true)
    const tries = readEpisodes(folder).slice(6)
    expect(tries.map((record) => record.try)).toEqual(new Array(failed).fill(1))
    const replay = await workshop.main(['replay', 'retried', '--world', exampleWorld('number-guessing'), '--json'])
    expect(JSON.parse(replay.out)).toMatchObject({ episodes: 6 + failed, diverged: 0, conflicting: 0, missing: 0 })
    const exported = await workshop.main(['export', 'retried', '--format', 'trl-sft'])
    expect(exported.err).toContain('6 finished episodes exported')
    expect((await run(...options, '--retry-failed')).err).toContain('give --resume and its --out too')
  })

  it.each([
    [401, /check the key/i, []],
    [404, /check the name of the model, and --base-url/i, ['--processes', '2']],
  ])(
    'stops if every request gets HTTP %i, seals no such episode, and continues when resumed',
    async (status, advice, options) => {
      let known = 0
      const refuses = () => known-- <= 0
      server = await startChatServer((request, _, response) => {
        if (!refuses()) return bisecting(request)
        response.writeHead(status).end(`{"error":{"message":"Not so ${status}"}}`)
        return null
      })
      const out = `refused-${status}`
      const folder = join(workshop.folder, out)
      const stopped = await run('--tasks', '40', '--concurrency', '4', '--out', out, ...options)
      expect(stopped.status).toBe(1)
      expect(stopped.err).toContain('5 episodes in a row failed with a refusal')
      expect(stopped.err).toMatch(advice)
      expect(stopped.err).toMatch(/40 episodes are left\. To play them:\n {2}episodic run .* --resume/)
      // One at a time, since it has not answered any.
      expect(server.requests.length).toBe(5)
      expect(readEpisodes(folder)).toEqual([])
      // It answers for some episodes, then rejects all requests.
      known = 60
      expect(await run('--tasks', '40', '--concurrency', '4', '--out', out, '--resume', ...options)).toMatchObject({
        status: 1,
      })
      const sealed = readEpisodes(folder)
      expect(sealed.length).toBeGreaterThan(0)
      for (const { outcome } of sealed) expect(outcome.kind).toBe('finished')
      known = Number.POSITIVE_INFINITY
      expect(await run('--tasks', '40', '--out', out, '--resume', ...options)).toMatchObject({ status: 0 })
      const all = readEpisodes(folder)
      expect(all.slice(0, sealed.length)).toEqual(sealed)
      expect(all.filter(({ outcome }) => outcome.kind === 'finished')).toHaveLength(40)
    },
  )

  it('does not resume with other sampling settings', async () => {
    server = await startChatServer(bisecting)
    expect(await run('--temperature', '0.5', '--out', 'sampled')).toMatchObject({ status: 0 })
    const { status, err } = await run('--temperature', '0.7', '--out', 'sampled', '--resume')
    expect(status).toBe(1)
    expect(err).toContain('sampling.temperature: was 0.5, now 0.7')
    expect(server.requests[0]).toMatchObject({ temperature: 0.5, model: 'bisect' })
  })

  it.each([
    [['--base-url', 'localhost'], 'http(s) URL'],
    [['--file', '{"prices":{"prompt":1}}'], '"prices.completion" is missing'],
    [['--file', '{"tokenBudget":0}'], 'whole number from 1'],
  ])('rejects %s', async (options, message) => {
    server = await startChatServer(bisecting)
    const { status, err } = await run(...options)
    expect(status).not.toBe(0)
    expect(err).toContain(message)
    expect(server.requests).toEqual([])
  })
})
