import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { calling, startChatServer } from '@episodic/models/chat-server.fixture'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readMatches } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const NIM = fileURLToPath(new URL('../../fixtures/nim.fixture.ts', import.meta.url))
const AGENT = `process:${process.execPath} ${fileURLToPath(new URL('../../fixtures/agents/nim-agent.fixture.ts', import.meta.url))}`
const fileOf = (...path: string[]) => join(workshop.folder, ...path)

/** Answers as a customer who checks the settings of the phone when asked. */
function answerAsUser(last: string): object {
  if (last.includes('The page opens')) return calling('say', { text: 'It works.' })
  if (!last.includes('Check the settings')) return calling('say', { text: 'I have no data.' })
  if (last.includes('airplane mode on')) return calling('switch_setting', { setting: 'airplane-mode', on: false })
  if (last.includes('mobile data off')) return calling('switch_setting', { setting: 'mobile-data', on: true })
  return calling('open_page', {})
}

const run = (out: string, ...options: string[]) =>
  workshop.main(['run', NIM, '--tasks', '12', '--out', out, '--json', ...options])

describe('episodic run of several seats', () => {
  it('plays each seat with its policy, and reports the figures of every seat', async () => {
    const { status, out, err } = await run('duel', '--seat', 'bob=random', '--file', '{"focus":"bob"}')
    expect([status, err]).toEqual([0, expect.stringContaining('12/12')])
    expect(JSON.parse(out)).toMatchObject({
      counts: { finished: 12, failed: 0 },
      policies: ['random'],
      success: { overall: { rate: 0 }, rules: ['world'] },
      seats: [
        { name: 'ann', focus: false, policies: ['leaves-fours'], success: { rate: 1 }, faults: 0 },
        { name: 'bob', focus: true, policies: ['random'], success: { rate: 0 }, faults: 0 },
      ],
    })
    expect(readFileSync(fileOf('duel', 'report.html'), 'utf8')).toContain('Figures of each seat')
    expect(new Set(readMatches(fileOf('duel')).map(({ seats }) => seats.bob?.policy.seed)).size).toBe(12)
  })

  it('plays the same matches in several processes, over HTTP, and after it was resumed', async () => {
    await run('there', '--seat', 'ann=random', '--seat', 'bob=random')
    const { status } = await workshop.main([
      ...['run', NIM, '--tasks', '12', '--out', 'processes', '--processes', '2', '--transport', 'http'],
      ...['--seat', 'ann=random', '--seat', 'bob=random'],
    ])
    expect(status).toBe(0)
    const lines = readFileSync(fileOf('there', 'episodes.jsonl'), 'utf8').split('\n')
    writeFileSync(fileOf('there', 'episodes.jsonl'), `${lines.slice(0, 5).join('\n')}\n${lines[5]?.slice(0, 90)}`)
    expect((await run('there', '--seat', 'ann=random', '--seat', 'bob=random', '--resume')).status).toBe(0)
    const chains = (folder: string) => readMatches(fileOf(folder)).map(({ task, chain }) => `${task.id} ${chain}`)
    expect(chains('there').sort()).toEqual(chains('processes').sort())
  })

  it('replays every match, and finds one that was edited', async () => {
    const replay = await workshop.main(['replay', 'duel', '--json'])
    expect([replay.status, JSON.parse(replay.out)]).toEqual([0, expect.objectContaining({ replayed: 12, missing: 0 })])
    const [match] = readMatches(fileOf('duel'))
    const traced = await workshop.main(['replay', 'duel', '--task', match?.task.id as string])
    expect(traced.out).toContain('ann leaves-fours  bob random')
    expect(traced.out).toMatch(/1 {2}ann {2}take \{"count":3\}/)
    expect(traced.out).toContain('end  bob  terminated: empty  return')
    const text = readFileSync(fileOf('duel', 'episodes.jsonl'), 'utf8')
    writeFileSync(fileOf('edited.jsonl'), text.replace('"policy":{"name":"random"', '"policy":{"name":"human"'))
    const edited = await workshop.main(['replay', 'edited.jsonl', '--world', NIM])
    expect(edited.status).toBe(1)
    expect(edited.out).toContain('differs in seal')
  })

  it.each([
    [['--seat', 'cid=random'], 'nim has no seat "cid". Its seats are: ann, bob.'],
    [['--file', '{"focus":"cid"}'], 'nim has no seat "cid".'],
    [['--seat', 'ann'], 'Write it as name=value, for example first=random.'],
    [['--seat', 'ann=random', '--seat', 'ann=random'], 'ann is given twice.'],
    [['--branch', '2@1'], '--branch is for environments of one seat, and nim has several.'],
    [['--seat', `ann=${AGENT}`, '--transport', 'in-process'], 'An agent plays over HTTP'],
    [['--file', '{"weights":{"lost":1}}'], 'nim has no reward term "lost". It has: won, stones.'],
    [['--seat', 'ann=nobody'], 'There is no policy "nobody".'],
  ])('rejects %j', async (options, message) => {
    const { status, err } = await run('rejected', ...options)
    expect(status).not.toBe(0)
    expect(err).toContain(message)
  })

  it('plays a seat by a model as a simulated user, with the instruction and the tools of its seat', async () => {
    await using server = await startChatServer(({ messages, tools }) => {
      const said = messages.map(({ content }) => content ?? '')
      const last = said.at(-1) ?? ''
      if (!tools.some(({ function: { name } }) => name === 'close_case')) return answerAsUser(last)
      if (last.includes('It works')) return calling('close_case', {})
      if (!said.some((text) => text.includes('The line is'))) return calling('look_up_line', {})
      return last.includes('suspended') ? calling('restore_line', {}) : calling('say', { text: 'Check the settings.' })
    })
    const seats = ['--seat', 'agent=llm:agent', '--seat', 'user=llm:customer', '--base-url', server.url]
    const { status, out } = await workshop.main([
      ...['run', exampleWorld('phone-support'), '--tasks', '4', '--out', 'support', '--json', ...seats],
    ])
    expect(status).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      success: { overall: { rate: 1 } },
      seats: [
        { policies: ['llm:agent'], tokens: { episodes: 4 } },
        { policies: ['llm:customer'], tokens: { episodes: 4 } },
      ],
    })
    const [match] = readMatches(fileOf('support'))
    expect(match?.seats.user?.prompt).toMatch(/^You are a customer/)
    const asked = server.requests.filter(({ model }) => model === 'customer')
    expect(asked[0]?.messages[1]?.content).toMatch(/^You are a customer/)
    expect((await workshop.main(['replay', 'support'])).status).toBe(0)
  })

  it('gives a seat to an agent in a process of its own, which plays at its session URL', async () => {
    const { status, out } = await run('agent', '--seat', `ann=${AGENT}`, '--seat', 'bob=random')
    expect(status).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ success: { overall: { rate: 1 } }, seats: [{ policies: [AGENT] }, {}] })
    expect((await workshop.main(['replay', 'agent'])).status).toBe(0)
    const second = await run(
      'second',
      '--seat',
      'ann=random',
      '--seat',
      `bob=${AGENT}`,
      '--file',
      '{"focus":"bob"}',
      '--tasks',
      '3',
    )
    expect(JSON.parse(second.out)).toMatchObject({ counts: { finished: 3 }, policies: [AGENT] })
    const both = await run('both', '--policy', AGENT, '--tasks', '2')
    expect(JSON.parse(both.out)).toMatchObject({ counts: { finished: 2 }, seats: [{ success: { rate: 1 } }, {}] })
  })

  it('lets the rules decide what an agent loses that leaves, and fails the match of one that crashes', async () => {
    const left = await run(
      'left',
      '--seat',
      `ann=process:TURNS=1 ${AGENT.slice(8)}`,
      '--seat',
      'bob=random',
      '--tasks',
      '2',
    )
    expect(JSON.parse(left.out)).toMatchObject({ ends: { terminated: [{ name: 'forfeit', count: 2 }] } })
    expect((await workshop.main(['replay', 'left'])).status).toBe(0)
    const crashed = `process:TURNS=0 STATUS=3 ${AGENT.slice(8)}`
    const { status, out } = await run('crashed', '--seat', `bob=${crashed}`, '--tasks', '2')
    expect(status).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      counts: { failed: 2 },
      failures: [
        { name: 'policy-failed', message: expect.stringContaining('Seat bob: The agent ended with status 3') },
      ],
      seats: [{ faults: 0 }, { faults: 2 }],
    })
  })
})
