import { defineCommand } from 'just-bash'
import { absolutePath, directoryOf } from '../disk/disk.ts'

const DISK = '/host'

/**
 * Runs Python with the directory of its program among those of its modules, as everybody expects; the shell's own
 * command copies the program elsewhere.
 */
export const python3 = defineCommand('python3', async (args, { exec, cwd, fs, stdin }) => {
  const failed = (stderr: string, exitCode: number) => ({ stdout: '', stderr: `python3: ${stderr}\n`, exitCode })
  if (!exec) return failed('cannot run here', 1)
  const [first = '-', ...rest] = args
  if (/^-./.test(first) && !['-c', '-m'].includes(first)) return exec('python', { args: [...args], cwd })
  const isFile = !first.startsWith('-')
  const file = absolutePath(cwd, first)
  if (isFile && !(await fs.exists(file)))
    return failed(`can't open file '${file}': [Errno 2] No such file or directory`, 2)
  const code = [
    'import sys',
    'sys.dont_write_bytecode = True',
    // The engine prints whole lines of text: bytes are kept, and go out at the end.
    'import atexit, base64, io',
    '_kept, _out = io.BytesIO(), sys.stdout',
    "sys.stdout = sys.__stdout__ = io.TextIOWrapper(_kept, 'utf-8', 'surrogateescape', write_through=True)",
    'atexit.register(lambda: print(base64.b64encode(_kept.getvalue()).decode(), file=_out, flush=True))',
    `sys.path[0] = ${pythonText(DISK + (isFile ? directoryOf(file) : cwd))}`,
    `sys.argv = [${(first === '-m' ? rest : first === '-c' ? [first, ...rest.slice(1)] : [first, ...rest]).map(pythonText).join(', ')}]`,
    isFile
      ? `__file__ = ${pythonText(DISK + file)}; exec(compile(open(__file__).read(), __file__, 'exec'))`
      : first === '-m'
        ? // What looks for modules by itself, such as unittest, begins where it is.
          `import os, runpy; os.getcwd = lambda: ${pythonText(DISK + cwd)}; runpy.run_module(${pythonText(rest[0] ?? '')}, run_name='__main__', alter_sys=True)`
        : `exec(compile(${pythonText(first === '-c' ? (rest[0] ?? '') : Buffer.from(stdin as never, 'latin1').toString())}, '<string>', 'exec'))`,
  ].join('\n')
  const input = first === '-' ? '' : (stdin as unknown as string)
  const run = await exec('python', { args: ['-c', code], cwd, stdin: input, stdinKind: 'bytes' })
  // Without the frame of the command, and with the place that the program has on the disk.
  const stderr = run.stderr
    .replace(/ {2}File "\/tmp\/_jb_script\.py".*\n(?: {4}.*\n)*/g, '')
    .replaceAll(`"${DISK}/`, '"/')
  const stdout = Buffer.from(run.stdout, 'base64').toString('latin1')
  return { stdout, stdoutKind: 'bytes', stderr, exitCode: run.exitCode }
})

function pythonText(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/gu,
    (letter) => `\\U${(letter.codePointAt(0) as number).toString(16).padStart(8, '0')}`,
  )
}
