import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { CLI } from '../base/own-package.ts'

/** Writes to standard error how many modules a process has loaded, those of Node left out. */
const COUNTS_MODULES = `
  import { registerHooks } from 'node:module'
  let modules = 0
  registerHooks({ load: (url, context, load) => ((modules += !url.startsWith('node:')), load(url, context)) })
  process.on('exit', () => process.stderr.write(String(modules)))`

function countModules(option: string): number {
  const hook = `data:text/javascript,${encodeURIComponent(COUNTS_MODULES)}`
  const { stderr } = spawnSync(process.execPath, ['--import', hook, CLI, option], { encoding: 'utf8' })
  return Number(stderr)
}

// A start that loads what every command needs takes seconds, and the tests start the command some hundred times.
it.each(['--version', '--help'])('loads few modules for %s', (option) => {
  const modules = countModules(option)
  expect(modules).toBeGreaterThan(5)
  expect(modules).toBeLessThan(20)
})
