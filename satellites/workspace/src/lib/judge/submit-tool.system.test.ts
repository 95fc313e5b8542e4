import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import * as episodic from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import * as zod from 'zod'
import * as workspace from '../../index.ts'

const PAGE = new URL('../../../../../docs/write/workspaces.md', import.meta.url)

/** The first program of the page about workspaces. */
function readExample(): string {
  const [, text = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? []
  return text
}

/** Runs the text of a module over the packages of this workspace, and returns the world that it exports. */
function runExample(text: string): ReturnType<typeof episodic.defineEnvironment> {
  const body = stripTypeScriptTypes(text)
    .replaceAll(/import \{(.*?)\} from ('.*?')/g, (_, names, from) => `const {${names}} = modules[${from}]`)
    .replace('export const environment =', 'return')
  return new Function('modules', body)({ episodic, zod, '@episodic/workspace': workspace })
}

describe('the task on the page about workspaces', () => {
  it('has at most 15 lines beyond its files', () => {
    const lines = readExample()
      .split('\n')
      .filter((line) => line.trim() !== '')
    const files = lines.slice(lines.indexOf('const DISK = createDisk({'), lines.indexOf('})') + 1)
    expect(files.length).toBe(3)
    expect(lines.length - files.length).toBeLessThanOrEqual(15)
  })

  it.each([
    ['/b', 'solved', 1],
    ['/a', 'wrong', 0],
  ])('is scored by the file that is left: %s', async (answer, reason, reward) => {
    const world = episodic.rehearse(runExample(readExample()), { seed: 'seed', strict: true })
    const command = `grep 500 access.log | cut -d ' ' -f 3 | sort | uniq -c; echo ${answer} > answer.txt`
    const prepared = await world.prepare('bash', { command })
    const { observation } = world.play('bash', { command }, { prepared })
    expect(observation.text).toContain('   1 /a\n   2 /b\n   1 /c\n')
    const { end, terms } = world.play('submit', {})
    expect([end, terms]).toEqual([{ kind: 'terminated', reason }, { solved: reward }])
  })
})
