import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, exampleWorld, openWorkshop } from '../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const write = (name: string, text: string | Uint8Array) => writeFileSync(join(workshop.folder, name), text)

/** Runs what is wrong, and expects one clear error, a status, and nothing left behind. */
async function refused(args: readonly string[], status: number, message: RegExp): Promise<void> {
  const before = readdirSync(workshop.folder)
  const ended = await workshop.main(args)
  expect(ended.err).toMatch(message)
  expect(ended.err).toMatch(/^error: /)
  // The frames of a user's own module are shown, and no others.
  expect(ended.err).not.toMatch(/^ {4}at (?!\S*loads-not\.ts)/m)
  expect(ended.out).toBe('')
  expect(ended.status).toBe(status)
  expect(readdirSync(workshop.folder)).toEqual(before)
}

describe('episodic', () => {
  it('suggests similar commands and options', async () => {
    await refused(['rnu'], 2, /unknown command 'rnu'\n\(Did you mean run\?\)/)
    await refused(['run', world, '--rolouts', '3'], 2, /unknown option '--rolouts'\n\(Did you mean --rollouts\?\)/)
  })

  it('names the available worlds', async () => {
    const shelf = join(workshop.folder, 'worlds', 'tidy-room')
    mkdirSync(shelf, { recursive: true })
    writeFileSync(join(shelf, 'index.ts'), 'export const environment = 3\n')
    mkdirSync(join(workshop.folder, 'worlds', 'empty-folder'))
    await refused(['run', 'tidy-romo'], 2, /no world "tidy-romo"\. There is: tidy-room\. /)
    await refused(['run', 'tidy-room'], 1, /tidy-room exports no "environment" made by defineEnvironment/)
  })

  it('reports what is wrong with a policy', async () => {
    write('loads-not.ts', 'throw new Error("no such model")\n')
    write('exports-none.ts', 'export const policy = 3\n')
    write('script.json', '[{ "tool": "guess" }]')
    await refused(['run', world, '--policy', 'sover'], 2, /no policy "sover"\. There is: random, solver, careless, /)
    await refused(['run', world, '--policy', './loads-not.ts'], 2, /loads-not\.ts does not load: no such model/)
    await refused(['run', world, '--policy', './exports-none.ts'], 2, /exports no policy/)
    await refused(['run', world, '--policy', 'script:script.json'], 2, /not a JSON list of \{ tool, arguments \}/)
    await refused(['run', world, '--policy', 'script:none.json'], 2, /none\.json/)
  })

  it('says in which encoding a file is that is not UTF-8, and ignores a byte order mark', async () => {
    const config = JSON.stringify({ servers: { café: { command: 'no-such-program' } } })
    write('latin.json', Buffer.from(config, 'latin1'))
    write('utf16.json', Buffer.from(config, 'utf16le'))
    write('marked.json', `\ufeff${config}`)
    await refused(
      ['sessions', '--config', 'latin.json'],
      2,
      /latin\.json cannot be read: it is not UTF-8, .* WINDOWS-1252\./,
    )
    await refused(['sessions', '--config', 'utf16.json'], 2, /utf16\.json cannot be read: it is not UTF-8, .* UTF-16\./)
    await refused(['sessions', '--config', 'marked.json'], 1, /no-such-program/)
    await refused(
      ['run', world, '--policies', 'utf16.json'],
      2,
      /utf16\.json is not a list of players: it is not UTF-8/,
    )
    await refused(['run', world, '--policy', 'script:latin.json'], 2, /latin\.json is not a JSON list.*not UTF-8/)
    await refused(['run', world, '--file', '{"systemPrompt":"@latin.json"}'], 2, /not UTF-8/)
    write('players.json', '\ufeff[{ "policy": "no-such" }]')
    await refused(['run', world, '--policies', 'players.json'], 2, /no policy "no-such"/)
  })

  it('rejects options without effect, before a run starts', async () => {
    write('two.json', JSON.stringify({ mcpServers: { a: { url: 'http://127.0.0.1:1' }, b: { command: 'x' } } }))
    write('coin.ts', COIN_WORLD)
    await refused(
      ['run', world, '--file', '{"weights":{"goal":2}}'],
      1,
      /no reward term "goal"\. It has: solved, cost\./,
    )
    await refused(['run', './coin.ts', '--shaping'], 2, /coin defines no potential/)
    await refused(['run', world, '--url', 'ftp://x'], 2, /--url ftp:\/\/x is not a URL of a server/)
    await refused(['run', world, '--url', 'http://127.0.0.1:1/env'], 1, /Cannot connect to .*ECONNREFUSED/)
    await refused(['run', world, '--config', 'none.json'], 2, /--config none\.json cannot be read/)
    await refused(['run', world, '--config', 'script.json'], 1, /The configuration is wrong/)
    await refused(['run', world, '--config', 'two.json'], 2, /choose one with --server\. It has: a, b\./)
    await refused(['run', world, '--config', 'two.json', '--server', 'c'], 2, /no server "c"\. It has: a, b\./)
    await refused(['run', world, '--server', 'c'], 2, /--config/)
    await refused(['run', world, '--metrics-port', '9100'], 2, /--metrics-port shows a queue: give --queue too/)
    await refused(['run', world, '--dataset', 'none.jsonl'], 2, /none\.jsonl cannot be read/)
    await refused(['run', world, '--resume', '--out', 'nothing'], 1, /nothing holds no run to resume/)
    await refused(['report', 'nothing'], 1, /nothing holds no run/)
    await refused(['play'], 2, /Give a world, or a server with --url/)
    await refused(['sessions'], 2, /No server given/)
    expect(existsSync(join(workshop.folder, 'runs'))).toBe(false)
  })
})
