import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it.each(['langchain.ts', 'ai-sdk.ts'])('%s keeps its session in all four ways', async (file) => {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  expect(stdout).toBe(
    'executor: 1, 2, 3, then 4, 5, 6\nfunction: 1, 2, 3\nagent and session: 1, 2, 3\noption: 1, 2, 3\n',
  )
})
