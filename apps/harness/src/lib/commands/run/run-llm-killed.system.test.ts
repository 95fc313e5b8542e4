import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bisecting, type ChatRequest, type ChatServer, startChatServer } from '@episodic/models/chat-server.fixture'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)

/** Answers requests until `most` were answered, and leaves later ones open. `held` resolves when so many are open. */
function holdAfter(most: number, open: number) {
  const held = Promise.withResolvers<void>()
  let [answered, waiting] = [0, 0]
  return {
    held: held.promise,
    answer(request: ChatRequest) {
      if (answered++ < most) return bisecting(request)
      if (++waiting === open) held.resolve()
      return null
    },
  }
}

const IN_FLIGHT = 4
const play = (server: ChatServer, out: string, ...options: string[]) => [
  ...['run', exampleWorld('number-guessing'), '--policy', 'llm:bisect', '--base-url', server.url, '--tasks', '6'],
  ...['--seed', 'killed', '--concurrency', String(IN_FLIGHT), '--out', out, ...options],
]

/** Returns what a run played, without times. */
const played = (out: string): unknown =>
  JSON.parse(JSON.stringify(withoutTimes(readEpisodes(at(out))), (key, value) => (key === 'time' ? undefined : value)))
const asked = (requests: readonly ChatRequest[]) => requests.map((request) => JSON.stringify(request)).toSorted()

describe('episodic run --policy llm:<model>, killed', () => {
  it.each([
    ['in two processes', ['--processes', '2'], 9],
    ['in trees', ['--branch', '2@2'], 13],
  ])('asks for no answer again that it had, %s', async (name, options, answered) => {
    const out = name.replaceAll(' ', '-')
    await using quiet = await startChatServer(bisecting)
    // The requests do not depend on the number of processes.
    const alone = options.filter((option) => option !== '--processes' && option !== '2')
    expect(await workshop.main(play(quiet, `${out}-quiet`, ...alone))).toMatchObject({ status: 0 })

    const holding = holdAfter(answered, IN_FLIGHT)
    await using server = await startChatServer(holding.answer)
    const killed = workshop.start(play(server, out, ...options))
    // Every episode in flight waits for its model, so all answers have arrived.
    await Promise.race([holding.held, killed.ended])
    killed.kill('SIGKILL')
    await killed.ended
    expect(server.requests.length).toBe(answered + IN_FLIGHT)
    expect(readdirSync(at(out, 'answers')).length).toBeGreaterThan(0)

    await using later = await startChatServer(bisecting)
    expect(await workshop.main(play(later, out, ...alone, '--resume'))).toMatchObject({ status: 0 })
    // What was answered before and after is what a quiet run asks, each request once.
    expect(asked([...server.requests.slice(0, answered), ...later.requests])).toEqual(asked(quiet.requests))
    expect(played(out)).toEqual(played(`${out}-quiet`))
    expect(existsSync(at(out, 'answers'))).toBe(false)
  })

  it('takes no kept answer for a sign that the model answers, and keeps none with transcript none', async () => {
    const holding = holdAfter(9, IN_FLIGHT)
    await using server = await startChatServer(holding.answer)
    const killed = workshop.start(play(server, 'refused'))
    await Promise.race([holding.held, killed.ended])
    killed.kill('SIGKILL')
    await killed.ended
    const sealed = readFileSync(at('refused', 'episodes.jsonl'), 'utf8')
    await using refusing = await startChatServer((_, __, response) => {
      response.writeHead(401).end('{"error":{"message":"wrong key"}}')
      return null
    })
    const { status, err } = await workshop.main(play(refusing, 'refused', '--file', '{"failFast":3}', '--resume'))
    expect([status, err]).toEqual([1, expect.stringContaining('3 episodes in a row failed with a refusal')])
    expect(readFileSync(at('refused', 'episodes.jsonl'), 'utf8')).toBe(sealed)
    // Nothing is kept or used any more, so the episodes that are not sealed begin anew.
    await using later = await startChatServer(bisecting)
    const resumed = await workshop.main(play(later, 'refused', '--file', '{"transcript":"none"}', '--resume'))
    expect(resumed).toMatchObject({ status: 0 })
    const played = readEpisodes(at('refused')).slice(sealed.split('\n').length - 1)
    expect(later.requests.length).toBe(played.reduce((sum, { steps }) => sum + steps.length, 0))
  })
})
