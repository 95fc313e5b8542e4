import { openPythonEnvironment, type PythonEnvironment } from '../python-environment.ts'

/** Returns the environment of NeMo Gym, 1.1 GB. `command` is a Python of 3.13 or newer; default: one that is found. */
export function openNemoGymEnvironment(command: string | undefined, onMake: (text: string) => void): PythonEnvironment {
  return openPythonEnvironment('nemo-gym.txt', onMake, {
    least: [3, 13],
    // The package asks for 3.13.14, and runs with every 3.13.
    saysPython: '3.13.14',
    ...(command && { command }),
  })
}
