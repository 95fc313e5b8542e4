import { openPythonEnvironment } from '../interop/python-environment.ts'
import { findProgram, TEST_PROGRAMS, type TestProgram } from '../scripts/test-programs.ts'

/** The exit status of a benchmark that measured nothing because this machine lacks what it needs. */
export const LACKS_PROGRAM = 77

/** Returns the path of a program, or ends the benchmark and says how to install it. */
export function needProgram(name: TestProgram): string {
  return findProgram(name) ?? end(`${name}, which is not found on PATH: apt-get install ${TEST_PROGRAMS[name]}`)
}

/** Ends the benchmark on a system without `/proc`, from which it reads the CPU time of other processes. */
export function needProc(): void {
  if (process.platform !== 'linux') end(`/proc, which Linux alone has, and this is ${process.platform}`)
}

/** Returns the Python of an environment, which is made if there is none, or ends the benchmark. */
export function needPython(requirements: string): string {
  try {
    return openPythonEnvironment(requirements, (text) => console.error(`  ${text}`)).python
  } catch (error) {
    return end(`a Python environment. ${(error as Error).message}`)
  }
}

function end(needed: string): never {
  console.error(`This benchmark needs ${needed}`)
  process.exit(LACKS_PROGRAM)
}
