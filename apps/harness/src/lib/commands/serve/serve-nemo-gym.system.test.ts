import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')

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
    [['--stdio'], /^error: --nemo-gym-port needs HTTP: a pipe has one client/],
    [['--processes', '2'], /^error: --nemo-gym-port keeps the sessions of its clients in one process/],
  ])('rejects %j', async (options, message) => {
    const { status, err } = await workshop.main(['serve', world, '--nemo-gym-port', '0', ...options])
    expect([status, err]).toEqual([2, expect.stringMatching(message)])
  })
})
