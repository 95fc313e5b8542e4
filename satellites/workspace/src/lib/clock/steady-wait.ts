const { wait, load } = Atomics

/**
 * Makes `Atomics.wait` of this thread end only when the value has changed. The shell's threads wait for an answer, and
 * take the end of a wait for it; but a notification of the answer before may come late, and end the next wait too
 * early. Call it in a thread of its own, before a library is loaded.
 */
export function installSteadyWait(): void {
  Atomics.wait = ((array: Int32Array, index: number, value: number, timeout?: number) => {
    for (;;) {
      const ended = wait(array, index, value, timeout)
      if (ended !== 'ok' || load(array, index) !== value) return ended
    }
  }) as typeof Atomics.wait
}
