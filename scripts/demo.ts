/**
 * The main job, as `npm start` runs it: serves a world over a WebSocket in a process of its own, plays a few thousand
 * episodes of it with 256 in flight, and leaves a report.
 */
import { spawnSync } from 'node:child_process'

const out = `runs/demo-${new Date().toISOString().slice(0, 19).replace(/\D/g, '')}`
const args = [
  'run',
  'number-guessing',
  '--transport',
  'websocket',
  '--policy',
  'careless',
  '--tasks',
  '512',
  '--rollouts',
  '8',
]
const { status } = spawnSync(
  process.execPath,
  ['apps/harness/src/cli.ts', ...args, '--concurrency', '256', '--shaping', '--out', out],
  { stdio: 'inherit' },
)
if (status === 0)
  console.log(`
Open ${out}/report.html in a browser. Next:
  npx pnpm@10.34.9 episodic play number-guessing      play it yourself
  npx pnpm@10.34.9 episodic serve number-guessing     serve it to any MCP client
  npx pnpm@10.34.9 episodic run --help                what else a run can do`)
process.exitCode = status ?? 1
