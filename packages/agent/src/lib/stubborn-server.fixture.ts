// The server of notes with a helper, both of which heed neither the end of their input nor SIGTERM.
import { spawn } from 'node:child_process'

spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], {
  stdio: 'ignore',
})
process.on('SIGTERM', () => {})
setInterval(() => {}, 1_000)
await import('./notes-server.fixture.ts')
