import { appendFileSync, cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSuccess } from '@episodic/report/fold/scored-outcome'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)
const show = (...args: string[]) => workshop.main(['show', ...args])
const headsOf = (out: string) => out.split('\n').filter((line) => line.startsWith('number-guessing '))

beforeAll(async () => {
  const args = ['run', exampleWorld('number-guessing'), '--policy', 'careless', '--tasks', '40', '--out', 'guessing']
  expect(await workshop.main(args)).toMatchObject({ status: 0 })
})

describe('episodic show', () => {
  it('prints every step of an episode, chosen by the beginning of the id of its task', async () => {
    const [episode] = readEpisodes(at('guessing'))
    const { status, out, err } = await show('guessing', '--task', episode!.task.id.slice(0, 12))
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(headsOf(out)).toEqual([`number-guessing 1.1.0  task ${episode!.task.id}  attempt 0  policy careless`])
    for (const [i, { action, observation }] of episode!.steps.entries()) {
      expect(out).toContain(`\n${i + 1}  ${action.tool} ${JSON.stringify(action.arguments)}\n`)
      for (const line of observation.text.split('\n')) expect(out).toContain(`\n     ${line}\n`)
    }
    expect(out).not.toMatch(/[^\P{Cc}\n]/u)
  })

  it('prints those without success, and the sealed lines as JSON', async () => {
    const lost = readEpisodes(at('guessing')).filter((episode) => !isSuccess(episode))
    expect(lost.length).toBeGreaterThan(0)
    expect(lost.length).toBeLessThan(40)
    const { out } = await show('guessing', '--failed', '--json')
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(lost)
    expect((await show('guessing', '--failed', '--query', 'success:yes')).err).toBe('No episode in guessing matches.\n')
  })

  it('prints each episode once, by the try that counts, and skips a torn line', async () => {
    cpSync(at('guessing'), at('torn'), { recursive: true })
    const [first = ''] = readFileSync(at('torn', 'episodes.jsonl'), 'utf8').split('\n')
    appendFileSync(at('torn', 'episodes.jsonl'), `${first}\n${first.slice(0, 90)}`)
    const { out, err } = await show('torn', '--json')
    expect(out.trim().split('\n')).toHaveLength(40)
    expect(err).toMatch(/^Line 42 .* is torn/)
  })
})
