import type { Console } from '@episodic/run/base/console'
import type { Command } from 'commander'

/**
 * @param description - what the list of commands and the command's own help say of it.
 * @param load - imports its module. A start that does not use it does not pay for it.
 */
function entry(description: string, load: () => Promise<{ readonly command: (console: Console) => Command }>) {
  return { description, load: async () => (await load()).command }
}

/** The commands by name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, ReturnType<typeof entry>>> = {
  serve: entry('serve worlds over MCP', () => import('./serve/serve.ts')),
  gateway: entry(
    'serve language models to agents, and keep their exact tokens for a trainer',
    () => import('./serve/gateway.ts'),
  ),
  play: entry('play a world yourself, in the terminal', () => import('./play/play.ts')),
  run: entry('run many episodes concurrently, and write a report', () => import('./run/run.ts')),
  record: entry(
    'make of runs of an MCP server a world that plays without the server',
    () => import('./worlds/record.ts'),
  ),
  queue: entry(
    'play for the runs of a queue, show them and its workers, pause it, and clean it up',
    () => import('./queue/queue.ts'),
  ),
  view: entry('show runs and their episodes in a browser', () => import('./show/view.ts')),
  show: entry('print the episodes of a run in the terminal', () => import('./show/show.ts')),
  report: entry(
    'write the summary and report of a run again, from its sealed episodes',
    () => import('./show/report.ts'),
  ),
  replay: entry(
    "replay a run's sealed episodes with the world's rules, and compare",
    () => import('./evaluate/replay.ts'),
  ),
  continue: entry(
    'go on from a step of an episode, many times, with one thing changed',
    () => import('./continue/continue.ts'),
  ),
  compare: entry('compare two or more runs of the same tasks', () => import('./evaluate/compare.ts')),
  gate: entry(
    'decide whether a run is good enough, with an exit status and reports for CI',
    () => import('./evaluate/gate.ts'),
  ),
  grade: entry(
    'judge the sealed episodes of runs, and compare the verdicts of graders and people',
    () => import('./evaluate/grade.ts'),
  ),
  bundle: entry('write runs as one HTML file, to share', () => import('./show/bundle.ts')),
  export: entry(
    'write the sealed episodes of a run in a format that trainers and viewers read',
    () => import('./show/export.ts'),
  ),
  check: entry(
    'check a world for leaked secrets, nondeterminism and exploitable rewards',
    () => import('./worlds/check.ts'),
  ),
  dataset: entry('generate, validate, inspect and export datasets of tasks', () => import('./worlds/dataset.ts')),
  suite: entry('compare worlds with published reference values', () => import('./suites/suite.ts')),
  load: entry(
    'load-test a world: throughput, latency, failures and server CPU per step',
    () => import('./worlds/load.ts'),
  ),
  sessions: entry(
    'list the sessions of a server, dump one, or close that of a task',
    () => import('./serve/sessions.ts'),
  ),
}
