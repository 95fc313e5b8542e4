import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { importModule } from './import-module.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'rules.ts'), '')
const failure = (code: string, message: string) => {
  const thrown = Object.assign(new Error(message), { code, stack: message })
  return importModule('world.ts', 'world-invalid', 'It', () => Promise.reject(thrown))
}

describe('importModule', () => {
  it.each(['rules', 'rules.js'])('names the file that an import of %s means', async (name) => {
    const missing = `Cannot find module '${join(folder, name)}' imported from world.ts`
    const meant = `There is ${join(folder, 'rules.ts')}: import`
    await expect(failure('ERR_MODULE_NOT_FOUND', missing)).rejects.toThrow(meant)
  })

  it('says nothing more of a file that is not there, and of anything else', async () => {
    const missing = `Cannot find module '${join(folder, 'nothing')}' imported from world.ts`
    const said = { code: 'world-invalid', message: `It does not load: ${missing}` }
    await expect(failure('ERR_MODULE_NOT_FOUND', missing)).rejects.toMatchObject(said)
    const thrown = importModule('world.ts', 'world-invalid', 'It', () => Promise.reject('a text'))
    await expect(thrown).rejects.toThrow(/^It does not load: a text$/)
  })

  it('says what finds TypeScript that Node does not run', async () => {
    const said = failure('ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'TypeScript enum is not supported in strip-only mode')
    await expect(said).rejects.toThrow(/TypeScript enum .*"erasableSyntaxOnly"/)
  })
})
