import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { installByteText } from './lib/bytes/byte-text.ts'
import { beginThreadsWith } from './lib/clock/begin-threads.ts'
import { installVirtualClock } from './lib/clock/virtual-clock.ts'
import type { FromThread } from './lib/workers/messages.ts'

// What libraries print is for nobody to read; unread, it would keep the process from ending.
for (const stream of [process.stdout, process.stderr]) stream.write = () => true
const clock = installVirtualClock()
installByteText()
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const endThreads = beginThreadsWith(new URL(`./inner-thread-start.${extension}`, import.meta.url))
// After both, because the shell keeps the functions that it finds when it is loaded.
const { createJobRunner } = await import('./lib/workers/job-runner.ts')
const run = createJobRunner(clock)
if (!parentPort) throw new Error('This module is the beginning of a thread.')
const port = parentPort
let ended: Promise<void> | undefined
port.on('message', async (message) => {
  await ended
  const answer = await run(message)
  port.postMessage({ ...answer, held: getHeapStatistics().external_memory } satisfies FromThread)
  // While the answer is on its way.
  ended = endThreads()
})
port.postMessage({ kind: 'ready' })
