import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { META, METHODS } from '@episodic/protocol'
import { mayMount, PRIVATELY } from '@episodic/run/base/programs.fixture'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const TOKEN = 'the-control-token-of-this-test'

/** Mounts a disk of 4 MiB, which only the server sees. */
const SMALL = 'mkdir small && mount -t tmpfs -o size=4m none small && exec "$0" "$@"'

describe.skipIf(!mayMount())('episodic serve on a full disk (needs a user who may mount)', () => {
  it('refuses what it cannot write, says that it is not ready, and goes on when there is room', async () => {
    const server = await workshop.serve([exampleWorld('number-guessing'), '--store', 'sqlite:small/sessions.db'], {
      env: { EPISODIC_CONTROL_TOKEN: TOKEN },
      under: [...PRIVATELY, 'sh', '-c', SMALL],
    })
    const call = async (method: string, params: object) => {
      const response = await fetch(server.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      return { status: response.status, ...((await response.json()) as { result?: { session: string } }) }
    }
    const open = () => call(METHODS.open, { environment: 'number-guessing', requestKey: randomUUID() })
    const ready = async () => (await fetch(new URL('/readyz', server.url))).status
    const { result } = await open()
    expect(await ready()).toBe(200)

    const filling = join(`/proc/${server.pid}/root`, workshop.folder, 'small/filling')
    expect(() => writeFileSync(filling, Buffer.alloc(8_388_608))).toThrow('ENOSPC')
    // What the file of the log has room for is still written.
    let refused = await open()
    while (refused.result) refused = await open()
    expect(refused).toMatchObject({ error: { data: { code: 'store-unavailable' } } })
    expect(await ready()).toBe(503)

    rmSync(filling)
    const _meta = { [META.session]: result?.session, [META.seq]: 0, [META.epoch]: 1 }
    const step = await call('tools/call', { name: 'guess', arguments: { value: 50 }, _meta })
    expect(step).toMatchObject({ status: 200, result: { structuredContent: { value: 50 } } })
    expect(await ready()).toBe(200)
    server.kill('SIGTERM')
    expect((await server.ended).status).toBe(0)
  })
})
