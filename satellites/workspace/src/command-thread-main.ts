// A thread in which commands run over disks.
import { parentPort } from 'node:worker_threads'
import { beginThreadsWith } from './lib/clock/begin-threads.ts'
import { installVirtualClock } from './lib/clock/virtual-clock.ts'

// What libraries print is for nobody to read; unread, it would keep the process from ending.
for (const stream of [process.stdout, process.stderr]) stream.write = () => true
const clock = installVirtualClock()
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
beginThreadsWith(new URL(`./inner-thread-start.${extension}`, import.meta.url))
// After both, because the shell keeps the functions that it finds when it is loaded.
const { createJobRunner } = await import('./lib/workers/job-runner.ts')
const run = createJobRunner(clock)
if (!parentPort) throw new Error('This module is the beginning of a thread.')
const port = parentPort
port.on('message', async (message) => port.postMessage(await run(message)))
port.postMessage({ kind: 'ready' })
