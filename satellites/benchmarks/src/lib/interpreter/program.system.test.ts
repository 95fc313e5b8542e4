import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const at = (name: string) => fileURLToPath(new URL(`recorded/${name}`, import.meta.url))

it('has recorded what the Python of this machine prints of the program', () => {
  expect(execFileSync('python3', [at('program.py')], { encoding: 'utf8' })).toBe(
    readFileSync(at('program.txt'), 'utf8'),
  )
})
