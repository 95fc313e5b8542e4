import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')

/** A client that keeps the cookie of its last answer, as NeMo Gym's agents do. */
function createClient(origin: string) {
  const client = {
    origin,
    cookie: '',
    async post(path: string, body: object, { lost = false } = {}) {
      const response = await fetch(`${client.origin}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: client.cookie },
        body: JSON.stringify(body),
      })
      const [cookie = ''] = response.headers.getSetCookie()
      if (cookie && !lost) client.cookie = cookie.split(';')[0] as string
      return response.json()
    },
  }
  return client
}

async function serve(...args: string[]) {
  const serving = await workshop.serve([world, ...args])
  const [, origin] = await serving.until(/"nemoGymUrl":"(http:[^"]+)"/)
  return { ...serving, origin: origin as string }
}

const row = {
  responses_create_params: { input: 'Find the number.' },
  episodic: { environment: 'number-guessing', seed: 'a-seed', params: { low: 1, high: 1 } },
}
const response = { output: [] }

describe('episodic serve --nemo-gym-port', () => {
  it('prints where agents of NeMo Gym play, and stops in order', async () => {
    const served = workshop.start(['serve', world, '--port', '0', '--nemo-gym-port', '0'])
    const [, origin] = await served.until(/for NeMo Gym {4}(http:\S+)/)
    await served.until(/Ctrl-C stops\./)
    expect(await (await fetch(`${origin}/reverify_mode`)).json()).toBe('unsupported')
    served.interrupt()
    expect((await served.ended).status).toBe(0)
  })

  it.each([
    ['seed_session', 'guess', { value: 500 }],
    ['reset', 'step', { ...row, response: callOf(500), _ng_step_request_id: 'a'.repeat(32) }],
  ])('plays a step once whose answer a killed server did not send: %s', async (open, path, call) => {
    const store = ['--store', `sqlite:${workshop.folder}/${open}.db`, '--nemo-gym-port', '0']
    const first = await serve(...store)
    const client = createClient(first.origin)
    await client.post(open, row)
    await client.post(path, { ...call, ...(open === 'reset' && { _ng_step_request_id: 'b'.repeat(32) }) })
    const answer = await client.post(path, call, { lost: true })
    first.kill('SIGKILL')
    await first.ended
    const second = await serve(...store)
    client.origin = second.origin
    expect(await client.post(path, call)).toEqual(answer)
    expect(client.cookie).toMatch(/\.2$/)
    second.kill('SIGTERM')
    expect((await second.ended).status).toBe(0)
  })

  it('reports the return with the last step of a turn, if that is wanted', async () => {
    const { origin, ...serving } = await serve('--nemo-gym-port', '0', '--rewards', 'return')
    const client = createClient(origin)
    await client.post('reset', row)
    expect(await client.post('step', { ...row, response: callOf(500) })).toMatchObject({ reward: 0 })
    expect(await client.post('step', { ...row, response: callOf(1) })).toMatchObject({ reward: 0.98, terminated: true })
    await client.post('seed_session', row)
    await client.post('guess', { value: 1 })
    expect(await client.post('verify', { ...row, response })).toMatchObject({ reward: 0.99, solved: 1 })
    serving.kill('SIGTERM')
    expect((await serving.ended).status).toBe(0)
  })

  it.each([
    [['--stdio'], /^error: --nemo-gym-port needs HTTP: a pipe has one client/],
    [['--processes', '2'], /^error: --nemo-gym-port keeps the sessions of its clients in one process/],
  ])('rejects %j', async (options, message) => {
    const { status, err } = await workshop.main(['serve', world, '--nemo-gym-port', '0', ...options])
    expect([status, err]).toEqual([2, expect.stringMatching(message)])
  })
})

function callOf(value: number) {
  const call = { type: 'function_call', call_id: 'c', name: 'guess', arguments: JSON.stringify({ value }) }
  return { output: [call] }
}
