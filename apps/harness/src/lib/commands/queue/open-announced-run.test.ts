import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Announcement, announcementSchema } from '@episodic/fleet/fleet-messages'
import { openAnnouncedRun, type WorkerScope } from '@episodic/fleet/open-announced-run'
import { createFolderJournal } from '@episodic/models/journal/folder-journal'
import { createModelLimit } from '@episodic/models/limits/model-limit'
import { findRun } from '@episodic/play/play/find-run'
import { playSettingsSchema, runSettingsSchema } from '@episodic/play/play/run-settings'
import { loadWorld } from '@episodic/play/worlds/world'
import { hashModule } from '@episodic/run/folder/plan/content-hash'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
const outside = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => {
  for (const made of [folder, outside]) rmSync(made, { recursive: true })
})
const reference = exampleWorld('number-guessing')
const world = await loadWorld(reference)
const settings = playSettingsSchema.parse({})
const { configuration } = await findRun(reference, runSettingsSchema.parse({ ...settings, policy: 'solver' }))
const announced: Announcement = {
  format: 1,
  name: 'a-run',
  episodic: '1',
  configuration,
  settings,
  world: { sha256: await hashModule(fileURLToPath(world.url)) },
}
const scope: Omit<WorkerScope, 'loaded'> = {
  worlds: [{ reference, world }],
  folder,
  allowAgents: false,
  queue: 'redis://127.0.0.1:6379',
  apiKeyEnvs: [],
  concurrency: 4,
  version: '1',
  models: {
    limit: createModelLimit(),
    journalOf: (run) => createFolderJournal(join(folder, run), { redact: (text) => text }),
    discard() {},
    async [Symbol.asyncDispose]() {},
  },
}
const played = (policy: string, sha256: string | null = null): Announcement => ({
  ...announced,
  configuration: { ...configuration, policy: { name: policy, sha256 } },
})
const asked = (change: Partial<Announcement['settings']>, policy = 'random'): Announcement => ({
  ...played(policy),
  settings: { ...settings, ...change },
})
/** Of no world: what is executed would follow from the name of its environment. */
const nameless = (change: Partial<Announcement['settings']> = {}): Announcement => ({
  ...asked(change),
  world: null,
  configuration: { ...configuration, environment: { name: './evil.mjs', version: '1.0.0' } },
})
const policy = "export const policy = { name: 'p', start: () => () => ({ tool: 'guess', arguments: { number: 1 } }) }"
writeFileSync(join(folder, 'own.ts'), policy)
writeFileSync(join(outside, 'other.ts'), policy)
symlinkSync(join(outside, 'other.ts'), join(folder, 'link.ts'))
const sha256 = await hashModule(join(folder, 'own.ts'))

describe('openAnnouncedRun', () => {
  it('opens a run whose world and policy the worker has', async () => {
    for (const announcement of [announced, played('random'), played(join(folder, 'own.ts'), sha256)]) {
      await using runner = await openAnnouncedRun(announcement, { ...scope, loaded: new Map() }, 'run1')
      expect(runner.runTask).toBeTypeOf('function')
    }
  })

  it('knows a file that was changed as what this process has loaded', async () => {
    const loaded = new Map()
    const file = join(folder, 'changed.ts')
    writeFileSync(file, policy)
    await using _ = await openAnnouncedRun(played(file, await hashModule(file)), { ...scope, loaded }, 'run1')
    writeFileSync(file, `${policy} // changed`)
    await expect(
      openAnnouncedRun(played(file, await hashModule(file)), { ...scope, loaded }, 'run1'),
    ).rejects.toMatchObject({ code: 'run-declined', message: expect.stringContaining('start the worker again') })
  })

  it('takes no player and no server from the settings of an announcement, which nobody has checked', () => {
    const forged = {
      policy: 'process:touch x',
      seat: { one: 'process:touch x' },
      config: 'mcp.json',
      server: 'x',
    }
    expect(announcementSchema.parse({ ...announced, settings: { ...settings, ...forged } })).toEqual(announced)
  })

  it.each<[string, Announcement, Partial<WorkerScope>]>([
    ['names no module of ./evil.mjs', nameless(), {}],
    ['names no module of ./evil.mjs', nameless({ url: 'http://own' }), { url: 'http://own' }],
    ['the run is of Episodic 2, and this worker has 1', { ...announced, episodic: '2' }, {}],
    [
      '--branch plays 5 episodes of a tree at once, and this worker has 4 slots',
      { ...announced, configuration: { ...configuration, branch: [{ lines: 5, at: 1 }] } },
      {},
    ],
    ['plays number-guessing, which this worker was not given', announced, { worlds: [] }],
    [
      'plays my-world, which is neither in examples/ nor worlds/ here nor a classic',
      { ...announced, configuration: { ...configuration, environment: { name: 'my-world', version: '1.0.0' } } },
      { worlds: null },
    ],
    ['number-guessing 1.1.0 has another content here', { ...announced, world: { sha256: 'other' } }, {}],
    ['other.ts is not in the folder of this worker', played(join(outside, 'other.ts'), sha256), {}],
    ['link.ts is not in the folder of this worker', played(join(folder, 'link.ts'), sha256), {}],
    ['none.ts is not in the folder of this worker', played(join(folder, 'none.ts'), sha256), {}],
    ['own.ts has another content here', played(join(folder, 'own.ts'), 'other'), {}],
    ['runs the command process:rm -rf /', played('process:rm -rf /'), {}],
    ['is played on the server http://evil', asked({ url: 'http://evil' }), { token: 'secret' }],
    ['this worker is for runs of --url http://own', announced, { url: 'http://own' }],
    [
      'asks language models at http://evil, and this worker has http://own',
      asked({ baseUrl: 'http://evil' }, 'llm:m'),
      { baseUrl: 'http://own' },
    ],
    ['uses the key in AWS_SECRET_KEY', asked({ apiKeyEnv: 'AWS_SECRET_KEY' }, 'llm:m'), {}],
    [
      'plays number-guessing 0.9.0, and this worker has number-guessing 1.1.0',
      { ...announced, configuration: { ...configuration, environment: { name: 'number-guessing', version: '0.9.0' } } },
      {},
    ],
  ])('declines with "%s"', async (message, announcement, change) => {
    await expect(
      openAnnouncedRun(announcement, { ...scope, loaded: new Map(), ...change }, 'run1'),
    ).rejects.toMatchObject({
      code: 'run-declined',
      message: expect.stringContaining(message.slice(1)),
    })
  })
})
