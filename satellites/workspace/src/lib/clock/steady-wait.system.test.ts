import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const WAITER = `
const { parentPort, workerData } = require('node:worker_threads')
import(${JSON.stringify(new URL('./steady-wait.ts', import.meta.url).href)}).then(({ installSteadyWait }) => {
  installSteadyWait()
  const ended = Atomics.wait(workerData, 0, 0)
  parentPort.postMessage([ended, Atomics.load(workerData, 0)])
})`

test('a wait goes on when it is notified without a change', async () => {
  const word = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(WAITER, { eval: true, workerData: word })
  const answered = once(worker, 'message')

  // Woken for the second time, it has begun to wait again.
  const woken = async () => {
    for (let times = 0; times < 2; await turn()) times += Atomics.notify(word, 0)
  }
  await Promise.race([woken(), answered])
  Atomics.store(word, 0, 1)
  Atomics.notify(word, 0)

  const [[, value]] = await answered
  expect(value).toBe(1)
  await worker.terminate()
})
