import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld } from '../episodic.fixture.ts'
import { createFolderJournal } from '../llm/folder-journal.ts'
import { createModelLimit } from '../llm/model-limit.ts'
import { hashFile } from '../run/plan/sources.ts'
import { configureRun, prepareRun } from '../run/prepare-run.ts'
import { runSettingsSchema } from '../run/run-settings.ts'
import { loadWorld } from '../world.ts'
import type { Announcement } from './fleet-messages.ts'
import { openAnnouncedRun, type WorkerScope } from './open-announced-run.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
const outside = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => {
  for (const made of [folder, outside]) rmSync(made, { recursive: true })
})
const reference = exampleWorld('number-guessing')
const world = await loadWorld(reference)
const settings = runSettingsSchema.parse({ policy: 'solver' })
const configuration = await configureRun(await prepareRun(reference, settings))
const announced: Announcement = {
  format: 1,
  name: 'a-run',
  episodic: '1',
  configuration,
  settings,
  world: { sha256: await hashFile(fileURLToPath(world.url)) },
}
const scope: WorkerScope = {
  worlds: [{ reference, world }],
  folder,
  allowAgents: false,
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
  settings: { ...settings, policy },
  configuration: { ...configuration, policy: { name: policy, sha256 } },
})
const asked = (change: Partial<Announcement['settings']>): Announcement => ({
  ...announced,
  settings: { ...settings, ...change },
})
const policy = "export const policy = { name: 'p', start: () => () => ({ tool: 'guess', arguments: { number: 1 } }) }"
writeFileSync(join(folder, 'own.ts'), policy)
writeFileSync(join(outside, 'other.ts'), policy)
symlinkSync(join(outside, 'other.ts'), join(folder, 'link.ts'))
const sha256 = await hashFile(join(folder, 'own.ts'))

describe('openAnnouncedRun', () => {
  it('opens a run whose world and policy the worker has', async () => {
    for (const announcement of [announced, played('random'), played(join(folder, 'own.ts'), sha256)]) {
      await using runner = await openAnnouncedRun(announcement, scope, 'run1')
      expect(runner.runTask).toBeTypeOf('function')
    }
  })

  it.each<[string, Announcement, Partial<WorkerScope>]>([
    ['the run is of Episodic 2, and this worker has 1', { ...announced, episodic: '2' }, {}],
    [
      '--branch plays 5 episodes of a tree at once, and this worker has 4 slots',
      { ...announced, configuration: { ...configuration, branch: [{ lines: 5, at: 1 }] } },
      {},
    ],
    ['plays number-guessing, which this worker was not given', announced, { worlds: [] }],
    ['which is neither in examples/ nor worlds/ here nor a classic', announced, { worlds: null }],
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
      asked({ policy: 'llm:m', baseUrl: 'http://evil' }),
      { baseUrl: 'http://own' },
    ],
    ['uses the key in AWS_SECRET_KEY', asked({ policy: 'llm:m', apiKeyEnv: 'AWS_SECRET_KEY' }), {}],
    [
      'plays number-guessing 0.9.0, and this worker has number-guessing 1.1.0',
      { ...announced, configuration: { ...configuration, environment: { name: 'number-guessing', version: '0.9.0' } } },
      {},
    ],
  ])('declines with "%s"', async (message, announcement, change) => {
    await expect(openAnnouncedRun(announcement, { ...scope, ...change }, 'run1')).rejects.toMatchObject({
      code: 'run-declined',
      message: expect.stringContaining(message.slice(1)),
    })
  })
})
