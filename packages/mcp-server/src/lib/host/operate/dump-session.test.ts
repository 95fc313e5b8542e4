import type { WireError } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineEnvironment } from '../../environment/definition/define-environment.ts'
import { numberGuessing } from '../../fixtures/number-guessing.fixture.ts'
import { asking, createTestHost, freshKey } from '../../fixtures/testbed.fixture.ts'
import { vault } from '../../fixtures/vault.fixture.ts'
import { createHost } from '../create-host.ts'

it('dumps a session to its owner and to an operator, and to no other principal', async () => {
  await using host = createHost({ environments: [numberGuessing] })
  const request = { environment: numberGuessing.name, params: {}, limits: {}, requestKey: freshKey() }
  const { id } = await host.open('anna', request)
  const dump = { id, private: false, after: 0, limit: 10 }
  for (const query of [dump, { ...dump, owner: 'anna' }])
    expect(await host.dump(query)).toMatchObject({
      session: { id, state: { private: '[hidden]' } },
      log: [],
      next: null,
    })
  for (const owner of ['berta', null])
    await expect(host.dump({ ...dump, owner })).rejects.toMatchObject({ code: 'session-not-found' })
  await expect(host.dump({ ...dump, id: 'unknown' })).rejects.toMatchObject({ code: 'session-not-found' })
})

/** A world whose state has its secret as a key. */
const directory = defineEnvironment({
  name: 'directory',
  version: '1.0.0',
  description: 'A directory.',
  params: z.object({ password: z.string() }),
  state: { public: z.object({}), private: z.object({ locks: z.record(z.string(), z.boolean()) }) },
  start: ({ params }) => ({ public: {}, private: { locks: { [params.password]: true } } }),
  observe: () => 'A directory.',
  secrets: ({ private: { locks } }) => Object.keys(locks),
  tools: ({ tool }) => ({
    wait: tool({ description: 'Waits.', input: z.object({}), play: ({ say }) => say('Waited.') }),
  }),
  rewards: { waited: () => 0 },
})

it('hides what the world lists as secret in keys as well as in values, and where nobody lists it all', async () => {
  const store = createMemoryStore()
  const { host } = createTestHost({ environments: [directory], store })
  const { id } = await host.open(null, asking({ environment: 'directory', params: { password: 'swordfish-42' } }))
  expect(await host.dump({ id, private: true, after: 0, limit: 10 })).toMatchObject({
    session: { params: { password: '[hidden]' }, state: { private: { locks: { '[hidden]': true } } } },
  })
  await using other = createHost({ environments: [{ ...directory, version: '1.0.1' }], store })
  const refused = other.dump({ id, private: true, after: 0, limit: 10 })
  await expect(refused).rejects.toThrow('plays directory 1.0.0, which is not served here. Serve that version')
})

it('refuses to dump a session whose world cannot list its secrets, and reports that as a fault of the world', async () => {
  const { host, faults } = createTestHost({ environments: [vault] })
  const { id } = await host.open('anna', asking({ environment: 'vault', params: { unlistable: true } }))
  faults.splice(0)
  const dump = { id, private: false, after: 0, limit: 10 }
  await expect(host.dump({ ...dump, owner: 'berta' })).rejects.toMatchObject({ code: 'session-not-found' })
  expect(faults).toEqual([])
  const refused = await host.dump({ ...dump, owner: 'anna' }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'environment-failed', details: { reference: expect.any(String) } })
  expect(faults).toMatchObject([
    { environment: 'vault', session: id, reference: (refused as WireError).details.reference },
  ])
})
