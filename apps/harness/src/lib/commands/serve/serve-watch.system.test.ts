import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@episodic/env'
import { childrenOf } from '@episodic/run/base/programs.fixture'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const write = (file: string, text: string) => writeFileSync(join(workshop.folder, file), text)

/** A world whose answers begin with a word of another module, and end with one of a file of data. */
const countingWorld = (version: string) => `
import { readFileSync } from 'node:fs'
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
import { before } from './before.ts'
const after = readFileSync(new URL('./after.txt', import.meta.url), 'utf8')
const shown = ({ count }) => [before, count, after].join(' ')
export const environment = defineEnvironment({
  name: 'counting',
  version: '${version}',
  description: 'Count.',
  state: { public: z.object({ count: z.int() }), private: z.object({}) },
  start: () => ({ public: { count: 0 }, private: {} }),
  observe: shown,
  tools: ({ tool }) => ({
    add: tool({
      description: 'Add 1.',
      input: z.object({}),
      play({ state, say }) {
        state.public.count += 1
        return say('Added.')
      },
    }),
  }),
  rewards: { added: () => 1 },
})
`

beforeEach(() => {
  write('world.ts', countingWorld('1.0.0'))
  write('before.ts', "export const before = 'Now'\n")
  write('after.txt', 'counted')
})

mkdirSync(join(workshop.folder, 'tmp'))
const env = { EPISODIC_CONTROL_TOKEN: 'the-token-of-this-test', TMPDIR: join(workshop.folder, 'tmp') }
/** The folders of sessions that servers keep while they serve. */
const stores = () => readdirSync(env.TMPDIR).filter((name) => name.startsWith('episodic-watch-'))
const serve = () => workshop.serve(['./world.ts', '--watch'], { env })

async function openSession(server: Serving) {
  const connection = await connect({ url: server.url, token: env.EPISODIC_CONTROL_TOKEN })
  const environment = connection.environment()
  const { observation } = await environment.reset()
  return {
    start: observation.text,
    add: async () => (await environment.step({ tool: 'add', arguments: {} })).observation.text.replace('Added.\n', ''),
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]()
    },
  }
}

describe('episodic serve --watch', () => {
  it('serves the new rules of modules and data, and sessions of the same version go on', async () => {
    const server = await serve()
    await using session = await openSession(server)
    expect(await session.add()).toBe('Now 1 counted')
    write('before.ts', "export const before = 'Still'\n")
    await server.until(/^before\.ts changed: the new rules of counting 1\.0\.0 are served, and its sessions go on\.$/m)
    expect(await session.add()).toBe('Still 2 counted')
    write('after.txt', 'in all')
    await server.until(/^after\.txt changed: the new rules of counting 1\.0\.0 are served/m)
    expect(await session.add()).toBe('Still 3 in all')
    server.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ status: 0 })
  })

  it('goes on with what was served where a change does not load, and serves the next one that does', async () => {
    const server = await serve()
    await using session = await openSession(server)
    write('before.ts', "export const before = 'Now\n")
    await server.until(
      /^error: The world \.\/world\.ts .* does not load: .*\n(?:.*\n)*before\.ts changed, and cannot be served/m,
    )
    expect(await session.add()).toBe('Now 1 counted')
    write('before.ts', "export const before = 'Mended'\n")
    await server.until(/^before\.ts changed: the new rules/m)
    expect(await session.add()).toBe('Mended 2 counted')
    server.kill('SIGTERM')
    await server.ended
  })

  it('serves again at the next change where the server was killed, and leaves nothing behind', async () => {
    const server = await serve()
    await using session = await openSession(server)
    const [child] = childrenOf(server.pid)
    expect(stores()).toHaveLength(1)
    process.kill(child as number, 'SIGKILL')
    await server.until(/^The server has ended by itself\./m)
    write('before.ts', "export const before = 'Again'\n")
    await server.until(/^before\.ts changed: /m)
    expect(await session.add()).toBe('Again 1 counted')
    server.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ status: 0 })
    expect(stores()).toEqual([])
  })

  const endless = "export const before = { toString() { process.stderr.write('blocked\\n'); for (;;); } }\n"

  it('replaces a process whose rules never end, and what waits there is answered by the next', async () => {
    write('before.ts', endless)
    const server = await serve()
    const opening = openSession(server)
    await server.until(/^blocked$/m)
    write('before.ts', "export const before = 'Free'\n")
    await server.until(/^before\.ts changed: the new rules/m)
    await using session = await opening
    expect(session.start).toBe('Free 0 counted')
    server.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ status: 0 })
  })

  it('ends at a second signal with the process whose rules never end', async () => {
    write('before.ts', endless)
    const server = await serve()
    void openSession(server).catch(() => {})
    await server.until(/^blocked$/m)
    const [child] = childrenOf(server.pid)
    server.kill('SIGTERM')
    server.kill('SIGINT')
    await server.ended
    await expect.poll(() => existsSync(`/proc/${child}`)).toBe(false)
  })

  it.each([
    ['--stdio'],
    ['--processes', '2'],
    ['--task', 'task.jsonl'],
    ['--openenv'],
    ['--nemo-gym-port', '0'],
    ['--ors-port', '0'],
  ])('refuses %s, which needs a process that stays', async (...options) => {
    const { status, err } = await workshop.main(['serve', './world.ts', '--watch', ...options])
    expect(status).toBe(2)
    expect(err).toMatch(new RegExp(`^error: --watch .*${options[0]}`))
  })
})
