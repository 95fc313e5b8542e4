import { type Command, defineCommand } from 'just-bash'
import type { VirtualClock } from '../../clock/virtual-clock.ts'
import { absolutePath } from '../../disk/disk.ts'
import { type EditedDisk, FULL_ACCESS } from '../../disk/edited-disk.ts'
import { failed, said, stdinOf } from '../commands/command-line.ts'
import { createAssert } from './assert.ts'
import { createInspect } from './inspect.ts'
import { MODULE, requiredFile } from './module-paths.ts'
import { DROP, NODE, type NodeProgram, RUN, startNode } from './start-node.ts'
import { createTestRunner } from './test-runner.ts'

/** Returns what the JavaScript engine runs first. */
export function nodeStart(clock: VirtualClock): string {
  const seed = Math.floor(clock.random() * 2 ** 32)
  const names = JSON.stringify({ run: RUN, node: NODE, drop: DROP })
  return `(${startNode})(${seed}, (${createInspect})(), ${names}, { assert: ${createAssert}, test: ${createTestRunner} })`
}

/** Files that `node --test` runs if it is given none. */
const TESTS = /(^|\/)(test\/.*|test|test-[^/]*|[^/]*[._-]test)\.[cm]?[jt]s$/

/** Runs JavaScript as a module, in the engine in WebAssembly. */
export function node(disk: EditedDisk): Command {
  return defineCommand('node', async (given, context) => {
    const { exec, cwd } = context
    if (!exec) return failed('node: cannot run here')
    const run = (program: NodeProgram) => {
      const code = `await globalThis[${JSON.stringify(RUN)}](() => import(${JSON.stringify(MODULE + program.path)}), ${JSON.stringify(program)})`
      return exec('js-exec', { args: ['-m', '-c', code], cwd })
    }
    const evaluate = async (code: string, args: readonly string[], stdin: string) => {
      // What cannot be imported is not there: the text becomes a file for as long as it runs.
      const path = absolutePath(cwd, '[eval1].js')
      const all = disk.withAccess(FULL_ACCESS)
      all.write(path, code)
      try {
        return await run({ path, args, stdin })
      } finally {
        all.remove(path, false)
      }
    }

    const args = given.slice(
      given.findIndex((arg) => !/^--(no-warnings|input-type=|enable-|experimental-|trace-)/.test(arg)),
    )
    const [first, ...rest] = args.length === 0 || given.length === 0 ? [] : args
    if (first === '--version' || first === '-v') return said('v24.0.0\n')
    if (first === '-e' || first === '--eval') return evaluate(rest[0] ?? '', rest.slice(1), stdinOf(context))
    if (first === '-p' || first === '--print')
      return evaluate(`console.log(\n${rest[0] ?? ''}\n)`, rest.slice(1), stdinOf(context))
    if (first === undefined || first === '-') return evaluate(stdinOf(context), rest, '')
    if (first === '--test') {
      const named = rest.filter((each) => !each.startsWith('-')).map((each) => absolutePath(cwd, each))
      const files = named.length > 0 ? named : testsIn(disk, cwd)
      return evaluate(files.map((file) => `await import(${JSON.stringify(file)})\n`).join(''), [], '')
    }
    if (first.startsWith('-')) return failed(`node: bad option: ${first}`, 9)
    const path = requiredFile(disk, absolutePath(cwd, first))
    if (path === undefined) return failed(`Error: Cannot find module '${absolutePath(cwd, first)}'`)
    return run({ path, args: rest, stdin: stdinOf(context) })
  })
}

function testsIn(disk: EditedDisk, directory: string): string[] {
  const start = directory === '/' ? '/' : `${directory}/`
  return disk
    .paths()
    .filter(
      (path) => path.startsWith(start) && TESTS.test(path.slice(start.length)) && !path.includes('/node_modules/'),
    )
    .sort()
}
