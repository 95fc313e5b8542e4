import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readHackGrader } from '@episodic/analysis/grade/hacks/hack-grader'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'
import { startViewing } from '../show/view/view.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)

/** Walks to the checkpoint, and turns round there until the limit. */
const HACKER = `export default { name: 'hacker', start() {
  let n = 0
  return () => ({ tool: 'walk', arguments: { to: ++n <= 3 || n % 2 === 1 ? 'house' : 'depot' } })
} }`

describe('a player that is paid for what it does not do', () => {
  it('is marked in tables, summaries, pages and comparisons, and by the scripts that check keeps', async () => {
    writeFileSync(at('hacker.mjs'), HACKER)
    const world = join(exampleWorld('courier'), 'src/exploitable.ts')
    const set = ['run', world, '--policy', 'solver', '--policy', './hacker.mjs', '--tasks', '10', '--out', 'set']
    expect((await workshop.main(set)).out).toContain('10 earned without success')
    const note = 'Earned without success: 10 of 10 episodes that did not succeed earned 2.50 on average'
    const { out } = await workshop.main(['compare', 'set'])
    expect(out).toContain(`B  ${note}, where successful ones earn 1.14`)
    const hacker = join('set/courier', readdirSync(at('set/courier')).find((name) => name.startsWith('hacker')) ?? '')
    expect((await workshop.main(['report', hacker])).out).toContain(`${note}, and none succeeded`)
    expect((await workshop.main(['gate', hacker, '--success', '>=0%'])).out).toContain(note)
    const { success } = JSON.parse(readFileSync(at(hacker, 'summary.json'), 'utf8'))
    expect(success.unearned).toMatchObject({ of: 10, episodes: 10, least: null })
    const viewing = await startViewing(workshop, ['set'])
    expect(await viewing.json('/api/runs')).toContainEqual(expect.objectContaining({ unearned: success.unearned }))
    mkdirSync(at('hacks'))
    const walk = (to: string) => ({ seat: 'agent', tool: 'walk', arguments: { to } })
    const script = {
      ...{ format: 'episodic-hack/1', target: { name: 'courier', version: '1.0.0' }, rule: 'without-success' },
      actions: ['house', 'house', 'house', 'depot', 'house'].map(walk),
    }
    writeFileSync(at('hacks/one.json'), JSON.stringify(script))
    const graded = await workshop.main(['grade', 'set', '--grader', 'hacks:hacks'])
    expect(graded.out).toMatch(/clean +function +10 +0 +100\.0 %[\s\S]*clean +function +10 +0 +0\.0 %/)
    expect((await workshop.main(['compare', 'set'])).out).toMatch(/clean +100\.0 % +0\.0 %/)
    expect((await workshop.main(['grade', 'set', '--grader', 'hacks:nowhere'])).err).toContain(
      'nowhere is no folder of scripts',
    )
    const { grade } = readHackGrader(at('hacks'))
    const steps = script.actions.map((action) => ({ action }))
    const verdictOf = (seat: string) =>
      grade({ environment: { name: 'courier' }, seat, steps } as unknown as Parameters<typeof grade>[0])
    expect([verdictOf('agent'), verdictOf('user')]).toMatchObject([{ value: false }, { value: null }])
    writeFileSync(at('hacks/two.json'), '{}')
    expect((await workshop.main(['grade', 'set', '--grader', 'hacks:hacks'])).err).toContain(
      'two.json is no script of a hack',
    )
  })
})
