import { type Command, defineCommand } from 'just-bash'
import type { VirtualClock } from '../../clock/virtual-clock.ts'
import { absolutePath } from '../../disk/disk.ts'
import { type EditedDisk, FULL_ACCESS } from '../../disk/edited-disk.ts'
import { failed, said, stdinOf } from '../commands/command-line.ts'
import { createInspect } from './inspect.ts'
import { type NodeProgram, RUN, startNode } from './start-node.ts'

/** Returns what the JavaScript engine runs first. */
export function nodeStart(clock: VirtualClock): string {
  const seed = Math.floor(clock.random() * 2 ** 32)
  return `(${startNode})(${seed}, (${createInspect})(), ${JSON.stringify(RUN)})`
}

/** Endings that Node would try, were the path to be required. */
const ENDINGS = ['', '.js', '.mjs', '/index.js']

/** Runs JavaScript as a module, in the engine in WebAssembly. */
export function node(disk: EditedDisk): Command {
  return defineCommand('node', async (given, context) => {
    const { exec, cwd, stdin } = context
    if (!exec) return failed('node: cannot run here')
    const run = (program: NodeProgram) => {
      const code = `await globalThis[${JSON.stringify(RUN)}](() => import(${JSON.stringify(program.path)}), ${JSON.stringify(program)})`
      return exec('js-exec', { args: ['-m', '-c', code], cwd })
    }
    const evaluate = async (code: string, args: readonly string[], stdin: string) => {
      // What cannot be imported is not there: the text becomes a file for as long as it runs.
      const path = absolutePath(cwd, '[eval1].mjs')
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
    if (first.startsWith('-')) return failed(`node: bad option: ${first}`, 9)
    if (first.endsWith('.cjs'))
      return exec('js-exec', { args: [first, ...rest], cwd, stdin: stdin as unknown as string, stdinKind: 'bytes' })
    const path = ENDINGS.map((ending) => absolutePath(cwd, first + ending)).find((each) => isFile(disk, each))
    if (path === undefined) return failed(`Error: Cannot find module '${absolutePath(cwd, first)}'`)
    return run({ path, args: rest, stdin: stdinOf(context) })
  })
}

function isFile(disk: EditedDisk, path: string): boolean {
  return disk.at(disk.resolve(path, 'stat'))?.kind === 'file'
}
