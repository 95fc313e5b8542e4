import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bisecting, type ChatServer, startChatServer } from '@episodic/models/chat-server.fixture'
import type { RunDetail } from '@episodic/report/view/run-entry'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../../fixtures/episodic.fixture.ts'
import { startViewing } from './view.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)
const world = exampleWorld('number-guessing')
const KEY = 'sk-nobody-may-read-this'
const env = { OPENAI_API_KEY: KEY }

let server: ChatServer
/** Whether the server refuses the key, and quotes it. */
let refuses = true
beforeAll(async () => {
  server = await startChatServer((request, _, response) => {
    if (!refuses) return bisecting(request)
    response.writeHead(401).end(JSON.stringify({ error: { message: `The key ${KEY} is not known.` } }))
    return null
  })
})
afterAll(() => server[Symbol.asyncDispose]())
afterEach(() => {
  refuses = true
})

const play = (...args: string[]) =>
  workshop.main(['run', world, '--policy', 'llm:bisect', '--tasks', '6', ...args], { env })
/** The options with which the server is asked. */
const asked = () => ['--base-url', server.url, '--file', JSON.stringify(FILE)]
const FILE = { redact: 'whole n[a-z]+', prices: { prompt: 2, completion: 10 }, modelTimeout: 60 }

describe('a run that stopped', () => {
  it('keeps why, without secrets, until it is resumed by the command of its pages', async () => {
    const stopped = await play(...asked(), '--out', 'runs/refused')
    expect(stopped.status).toBe(1)
    const kept = readFileSync(at('runs/refused/stopped.json'), 'utf8')
    expect(JSON.parse(kept)).toEqual({
      format: 1,
      code: 'model-refused',
      message: expect.stringContaining('The key [key] is not known.'),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    })
    const report = () => readFileSync(at('runs/refused/report.html'), 'utf8')
    expect(report()).toContain('The key [key] is not known.')
    for (const text of [kept, report(), readFileSync(at('runs/refused/run.json'), 'utf8')])
      expect(text).not.toContain(KEY)

    const viewing = await startViewing(workshop)
    const { id, stopped: listed } = await viewing.runNamed('refused')
    expect(listed).toMatchObject({ code: 'model-refused' })
    const { commands } = await viewing.json<RunDetail>(`/api/r/${id}`)
    expect(commands.resume).toContain(
      `--base-url ${server.url} --file '${JSON.stringify(FILE)}' --out runs/refused --resume`,
    )
    expect(report()).toContain(`--base-url ${server.url}`)
    refuses = false
    // As a shell would split it.
    const words = (commands.resume ?? '').match(/'[^']*'|[^\s']+/g)?.map((word) => word.replaceAll("'", '')) ?? []
    const resumed = await workshop.main(words.slice(1), { env })
    expect([resumed.status, existsSync(at('runs/refused/stopped.json'))]).toEqual([0, false])
    expect(report()).not.toContain('is not known')
  })

  it('is resumed, if it is one of a set, with the options that were given to go on', async () => {
    const set = ['--policy', 'solver', '--set', 'several']
    expect((await play('--base-url', server.url, ...set)).status).toBe(1)
    const again = ['run', '--resume', 'runs/several', '--base-url', server.url, '--token', 'secret-of-a-server']
    const { status, err } = await workshop.main(again, { env })
    expect(status).toBe(1)
    expect(err).toContain(`To play them:\n  episodic run --resume runs/several --base-url ${server.url}\n`)
    expect(err).not.toContain('secret-of-a-server')
  })
})
