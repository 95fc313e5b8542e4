import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const at = (name: string) => fileURLToPath(new URL(`recorded/${name}`, import.meta.url))

it('has recorded what the Python of this machine says', () => {
  const said = execFileSync('python3', [at('record.py')], { input: readFileSync(at('cases.json')), encoding: 'utf8' })
  expect(JSON.parse(said)).toEqual(JSON.parse(readFileSync(at('python.json'), 'utf8')))
})
