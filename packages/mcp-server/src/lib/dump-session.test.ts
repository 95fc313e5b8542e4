import { expect, it } from 'vitest'
import { createHost } from './create-host.ts'
import { numberGuessing } from './number-guessing.fixture.ts'
import { freshKey } from './testbed.fixture.ts'

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
