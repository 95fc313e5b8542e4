import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { hashFile, hashModule } from './content-hash.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-hash-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes files, and returns the path of the first one. */
function write(name: string, files: Record<string, string>): string {
  mkdirSync(join(folder, name, 'parts'), { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text)
  return join(folder, name, Object.keys(files)[0] as string)
}

const module = {
  'policy.ts': `import { a } from './parts/a.ts'\nimport { z } from 'zod'\n// as in './gone.ts', from './gone.ts'\n`,
  'parts/a.ts': `export const a = () => import("./b.mjs")\nexport * from '../policy.ts'\n`,
  'parts/b.mjs': `export { default } from './c.json' with { type: 'json' }\n`,
  'parts/c.json': '[1]',
  'parts/unused.ts': '1',
}

describe('hashModule', () => {
  it('is that of the file if it imports nothing by a relative path', async () => {
    const alone = write('alone', { 'policy.ts': `import { z } from 'zod'\n` })
    expect(await hashModule(alone)).toBe(await hashFile(alone))
  })

  it('changes with each file that is imported, directly or not, and with no other', async () => {
    const whole = await hashModule(write('whole', module))
    expect(await hashModule(write('elsewhere', module))).toBe(whole)
    expect(await hashModule(write('other', { ...module, 'parts/unused.ts': '2' }))).toBe(whole)
    for (const changed of ['policy.ts', 'parts/a.ts', 'parts/b.mjs', 'parts/c.json'] as const)
      expect(await hashModule(write('changed', { ...module, [changed]: `${module[changed]} ` }))).not.toBe(whole)
  })

  it('is the same through a link', async () => {
    const file = write('linked', module)
    symlinkSync(join(folder, 'linked'), join(folder, 'link'))
    expect(await hashModule(join(folder, 'link', 'policy.ts'))).toBe(await hashModule(file))
  })

  it('rejects for a file that is not there', async () => {
    await expect(hashModule(join(folder, 'none.ts'))).rejects.toMatchObject({ code: 'option-invalid' })
  })
})
