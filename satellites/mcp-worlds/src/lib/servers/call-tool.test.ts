import { type Channel, WireError } from '@episodic/protocol'
import { describe, expect, it, vi } from 'vitest'
import { callTool, listTools } from './call-tool.ts'

const never = new AbortController().signal
const answering = (reply: unknown): Channel => ({ request: async () => reply, close: async () => {} })
const said = { content: [{ type: 'text', text: 'Done.' }] }

describe('callTool', () => {
  it.each([
    ['nothing', undefined],
    ['text', 'Done.'],
    ['no content', { isError: false }],
    ['content without a type', { content: [{ text: 'Done.' }] }],
    ['a list as data', { ...said, structuredContent: [] }],
  ])('rejects where it is answered %s', async (_, reply) => {
    await expect(callTool(answering(reply), 'act', {}, { signal: never })).rejects.toMatchObject({
      code: 'reply-malformed',
    })
  })

  it.each([
    ['a text that says no data, unchanged', said.content, 'Done.'],
    ['no text, as JSON', [], '{"left":3,"won":null}'],
    ['several texts, in lines', [...said.content, ...said.content], 'Done.\nDone.'],
  ])('shows an answer with %s', async (_, content, text) => {
    const structured = { left: 3, won: null }
    const answer = await callTool(answering({ content, structuredContent: structured }), 'act', {}, { signal: never })
    expect(answer).toEqual({ text, structured, isError: false })
  })

  it('keeps pictures, sounds, files and resources, and says what else there was', async () => {
    const png = { data: 'iVBORw0KGgo=', mimeType: 'image/png' }
    const content = [
      { type: 'text', text: 'Look.' },
      { type: 'image', ...png },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'The text of a.' } },
      { type: 'resource', resource: { uri: 'file:///b.png', blob: png.data, mimeType: png.mimeType } },
      { type: 'resource', resource: { uri: 'file:///c.zip', blob: 'UEsDBA==', mimeType: 'application/zip' } },
      { type: 'resource_link', uri: 'file:///d.txt', name: 'd' },
      { type: 'image', data: `iVBORw0KGgo${'A'.repeat(600_001)}`, mimeType: 'image/png' },
    ]
    expect(await callTool(answering({ content }), 'act', {}, { signal: never })).toEqual({
      text: [
        ...['Look.', 'The text of a.', '[resource_link d file:///d.txt]'],
        '[image: image/png, 450 KB] It is too large to be shown.',
      ].join('\n'),
      attachments: [
        png,
        { ...png, uri: 'file:///b.png' },
        { data: 'UEsDBA==', mimeType: 'application/zip', uri: 'file:///c.zip' },
      ],
      resources: [
        { type: 'resource', uri: 'file:///a.txt', from: 6, to: 20 },
        { type: 'resource_link', uri: 'file:///d.txt', name: 'd', from: 21, to: 52 },
      ],
      structured: null,
      isError: false,
    })
  })

  it('mends a text that was cut within a character, in the text and in the data', async () => {
    const half = '\ud83d'
    const reply = { content: [{ type: 'text', text: `Half: ${half}` }], structuredContent: { half } }
    expect(await callTool(answering(reply), 'act', {}, { signal: never })).toEqual({
      text: 'Half: \ufffd',
      structured: { half: '\ufffd' },
      isError: false,
    })
  })

  it('mends the words of a refusal that were cut within a character', async () => {
    const refusing: Channel = {
      request: () => Promise.reject(new WireError('invalid-params', 'bad \ud83d')),
      close: async () => {},
    }
    expect(await callTool(refusing, 'act', {}, { signal: never })).toMatchObject({ text: 'bad \ufffd', isError: true })
  })

  it('keeps -0 as 0, and warns once of a tool whose number has lost digits', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const reply = JSON.parse(
      '{"content":[],"structuredContent":{"rows":[{"id":12345678901234567890,"at":-0.0,"is":2.5}]}}',
    )
    for (let i = 0; i < 2; i++)
      expect((await callTool(answering(reply), 'ids', {}, { signal: never })).structured).toEqual({
        rows: [{ id: 12345678901234567000, at: 0, is: 2.5 }],
      })
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^The tool ids answers .* 12345678901234567000: .* text\.$/)],
    ])
    warn.mockRestore()
  })

  it('shows the beginning of a very long answer, and says what is left out', async () => {
    const long = { content: [{ type: 'text', text: 'x'.repeat(200_007) }] }
    const { text } = await callTool(answering(long), 'act', {}, { signal: never })
    expect(text.slice(199_990)).toBe(`${'x'.repeat(10)}\n[7 more characters were left out.]`)
  })
})

describe('listTools', () => {
  it('rejects what lists no tools', async () => {
    for (const reply of [{}, { tools: [{}] }, { tools: [{ name: 'act' }] }, { tools: [], nextCursor: 'again' }])
      await expect(listTools(answering(reply), never)).rejects.toMatchObject({ code: 'reply-malformed' })
  })

  it('reads every page', async () => {
    const channel: Channel = {
      async request(_, { cursor }) {
        const page = Number(cursor ?? 0)
        const tools = [{ name: `tool-${page}`, inputSchema: { type: 'object' } }]
        return page < 2 ? { tools, nextCursor: String(page + 1) } : { tools }
      },
      async close() {},
    }
    expect((await listTools(channel, never)).map(({ name }) => name)).toEqual(['tool-0', 'tool-1', 'tool-2'])
  })
})
