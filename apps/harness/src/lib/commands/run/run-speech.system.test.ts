import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ChatRequest, calling, saying, startChatServer } from '@episodic/models/chat-server.fixture'
import { afterAll, describe, expect, it } from 'vitest'
import { openWorkshop, readEpisodes, readMatches } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const worldOf = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}.fixture.ts`, import.meta.url))
const agentOf = (name: string) =>
  `node ${fileURLToPath(new URL(`../../fixtures/agents/${name}-agent.fixture.ts`, import.meta.url))}`
const words = (content: string) => saying({ role: 'assistant', content })

/** Looks a number up, and then says what it found. */
function helping({ messages }: ChatRequest): object {
  const last = messages.at(-1)?.content ?? ''
  if (last.includes('42') && messages.at(-1)?.role === 'user') return calling('look_up', { number: 42 })
  return words(messages.at(-1)?.role === 'tool' ? 'It is known.' : 'Which number?')
}

async function exported(run: string, format: string, ...options: string[]) {
  const { out, err } = await workshop.main(['export', run, '--format', format, '--out', `${run}.${format}`, ...options])
  try {
    return JSON.parse(readFileSync(join(workshop.folder, `${run}.${format}`), 'utf8').split('\n')[0] as string)
  } catch {
    throw new Error(out + err)
  }
}

describe('a run of a world in which words are a move', () => {
  it('seals what was said, replays it, and exports it as messages without a call', async () => {
    await using server = await startChatServer(helping)
    const model = ['--policy', 'llm:test', '--base-url', server.url, '--tasks', '2', '--json']
    const { status, out } = await workshop.main(['run', worldOf('desk'), '--out', 'desk', ...model])
    expect([status, JSON.parse(out).success.overall.rate]).toEqual([0, 1])
    const [record] = readEpisodes(join(workshop.folder, 'desk'))
    expect(record?.steps.map(({ action: { tool }, speech }) => [tool, speech])).toEqual([
      ['say', true],
      ['look_up', undefined],
      ['say', true],
    ])
    expect((await workshop.main(['replay', 'desk'])).status).toBe(0)

    const { messages, tools } = await exported('desk', 'trl-sft')
    expect(messages.slice(1)).toEqual([
      { role: 'user', content: 'My phone is dead.' },
      { role: 'assistant', content: 'Which number?' },
      { role: 'user', content: 'It is 42.' },
      expect.objectContaining({ role: 'assistant', tool_calls: [expect.anything()] }),
      expect.objectContaining({ role: 'tool', content: '42 is known.', tool_call_id: expect.stringMatching(/_2$/) }),
      { role: 'assistant', content: 'It is known.' },
      { role: 'user', content: 'Thanks. ###STOP###' },
    ])
    expect(tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(['look_up'])
    const { steps } = await exported('desk', 'atif')
    expect(steps.map(({ source, message }: { source: string; message: string }) => [source, message])).toEqual([
      ['user', expect.stringContaining('My phone is dead.')],
      ['agent', 'Which number?'],
      ['user', 'It is 42.'],
      ['agent', ''],
      ['agent', 'It is known.'],
      ['user', 'Thanks. ###STOP###'],
    ])
  })

  it('plays a user by a model and by a script, and exports what each said to the other', async () => {
    await using server = await startChatServer((request) => {
      if (request.model === 'agent') return words('Please switch it off and on.')
      return words(request.messages.length > 3 ? 'Yes! ###STOP###' : 'My data is off.')
    })
    const call = (out: string, user: string) =>
      workshop.main([
        ...['run', worldOf('call'), '--policy', 'llm:agent', '--seat', `user=${user}`, '--base-url', server.url],
        ...['--tasks', '1', '--out', out, '--json'],
      ])
    const conversation = [
      { role: 'user', content: 'My data is off.' },
      { role: 'assistant', content: 'Please switch it off and on.' },
      { role: 'user', content: 'Yes! ###STOP###' },
    ]
    for (const user of ['llm:customer', 'solver']) {
      const out = user === 'solver' ? 'script' : 'model'
      expect((await call(out, user)).status).toBe(0)
      const [match] = readMatches(join(workshop.folder, out))
      expect(match?.steps.map(({ seat, speech }) => [seat, speech])).toEqual([
        ['user', true],
        ['agent', true],
        ['user', true],
      ])
      expect((await exported(out, 'trl-sft', '--seat', 'agent')).messages.slice(-3)).toEqual(conversation)
      expect((await workshop.main(['replay', out])).status).toBe(0)
    }
    // Nobody records what a script is sent, so that its conversation is made of its steps.
    const { messages } = await exported('script', 'trl-sft', '--seat', 'user')
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: 'My data is off.' },
      { role: 'user', content: 'Please switch it off and on.' },
      { role: 'assistant', content: 'Yes! ###STOP###' },
    ])
  })

  it('plays what an agent says at the end of its turn, alone and as a seat, and prompts it with the answer', async () => {
    const acp = `acp:${agentOf('speaking')}`
    expect(
      (await workshop.main(['run', worldOf('desk'), '--policy', acp, '--tasks', '1', '--out', 'acp'])).status,
    ).toBe(0)
    const [alone] = readEpisodes(join(workshop.folder, 'acp'))
    expect(alone?.steps.map(({ action }) => action.arguments.text)).toEqual([
      'Turn 1: My phone is dead.',
      'Turn 2: It is 42.',
    ])
    expect(alone?.steps.map(({ speech, completions }) => [speech, completions?.map(({ text }) => text)])).toEqual([
      [true, ['Turn 1: My phone is dead.']],
      [true, ['Turn 2: It is 42.']],
    ])
    expect(alone?.outcome).toMatchObject({ end: { reason: 'stopped' }, success: true })
    const seats = ['--policy', acp, '--seat', 'user=solver', '--tasks', '1']
    expect((await workshop.main(['run', worldOf('call'), ...seats, '--out', 'acp-seat'])).status).toBe(0)
    const [match] = readMatches(join(workshop.folder, 'acp-seat'))
    expect(match?.steps.map(({ seat, action }) => `${seat}: ${action.arguments.text}`)).toEqual([
      'user: My data is off.',
      'agent: Turn 1: My data is off.',
      'user: Yes! ###STOP###',
    ])
    for (const run of ['acp', 'acp-seat']) expect((await workshop.main(['replay', run])).status).toBe(0)
  })

  it('plays the last answer of the model of a program, where it is recorded and has no call', async () => {
    await using server = await startChatServer(({ messages }) =>
      messages.at(-1)?.role === 'user' ? calling('look_up', { number: 7 }) : words('Which number?'),
    )
    const { status, err } = await workshop.main(
      [
        ...['run', worldOf('desk'), '--policy', `process:${agentOf('openai')}`, '--tasks', '1', '--out', 'program'],
        ...['--record-models', '--base-url', server.url],
      ],
      { env: { OPENAI_API_KEY: 'sk-nobody' } },
    )
    expect([status, err]).toEqual([0, expect.anything()])
    const [record] = readEpisodes(join(workshop.folder, 'program'))
    expect(record?.steps.map(({ action, completions }) => [action.tool, completions?.length])).toEqual([
      ['look_up', 1],
      ['say', 1],
    ])
    expect(record?.outcome).toMatchObject({ end: { reason: 'closed' } })
  })
})
