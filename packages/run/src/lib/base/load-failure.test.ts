import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadFailure } from './load-failure.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'rules.ts'), '')
const failure = (code: string, message: string) => loadFailure(Object.assign(new Error(message), { code }))

describe('loadFailure', () => {
  it.each(['rules', 'rules.js'])('names the file that an import of %s means', (name) => {
    const missing = `Cannot find module '${join(folder, name)}' imported from world.ts`
    expect(failure('ERR_MODULE_NOT_FOUND', missing)).toContain(`There is ${join(folder, 'rules.ts')}: import`)
  })

  it('says nothing more of a file that is not there, and of anything else', () => {
    const missing = `Cannot find module '${join(folder, 'nothing')}' imported from world.ts`
    expect(failure('ERR_MODULE_NOT_FOUND', missing)).toBe(missing)
    expect(loadFailure('a text')).toBe('a text')
  })

  it('says what finds TypeScript that Node does not run', () => {
    const said = failure('ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'TypeScript enum is not supported in strip-only mode')
    expect(said).toMatch(/^TypeScript enum .*"erasableSyntaxOnly"/)
  })
})
