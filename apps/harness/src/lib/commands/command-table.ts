import type { Command } from 'commander'
import type { Console } from '../base/console.ts'

export interface CommandEntry {
  /** What the list of commands and the command's own help say of it. */
  readonly description: string
  /** Imports the command. A start that does not use it does not pay for its modules. */
  load(): Promise<(console: Console) => Command>
}

/** The commands by name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  init: {
    description: 'start a project with a world, its tests and a workflow for CI',
    load: async () => (await import('./worlds/init.ts')).initCommand,
  },
  serve: {
    description: 'serve worlds over MCP',
    load: async () => (await import('./serve/serve.ts')).serveCommand,
  },
  gateway: {
    description: 'serve language models to agents, and keep their exact tokens for a trainer',
    load: async () => (await import('./serve/gateway.ts')).gatewayCommand,
  },
  play: {
    description: 'play a world yourself, in the terminal',
    load: async () => (await import('./play/play.ts')).playCommand,
  },
  run: {
    description: 'run many episodes concurrently, and write a report',
    load: async () => (await import('./run/run.ts')).runCommand,
  },
  record: {
    description: 'make of runs of an MCP server a world that plays without the server',
    load: async () => (await import('./worlds/record.ts')).recordCommand,
  },
  work: {
    description: 'play for the runs of a queue, until it is stopped',
    load: async () => (await import('./queue/work.ts')).workCommand,
  },
  queue: {
    description: 'show the runs and workers of a queue, pause it, and clean it up',
    load: async () => (await import('./queue/queue.ts')).queueCommand,
  },
  view: {
    description: 'show runs and their episodes in a browser',
    load: async () => (await import('./show/view.ts')).viewCommand,
  },
  report: {
    description: 'write the summary and report of a run again, from its sealed episodes',
    load: async () => (await import('./show/report.ts')).reportCommand,
  },
  replay: {
    description: "replay a run's sealed episodes with the world's rules, and compare",
    load: async () => (await import('./evaluate/replay.ts')).replayCommand,
  },
  compare: {
    description: 'compare two or more runs of the same tasks',
    load: async () => (await import('./evaluate/compare.ts')).compareCommand,
  },
  gate: {
    description: 'decide whether a run is good enough, with an exit status and reports for CI',
    load: async () => (await import('./evaluate/gate.ts')).gateCommand,
  },
  baseline: {
    description: 'keep the figures of a run under a name, in a file that later runs are compared with',
    load: async () => (await import('./evaluate/baseline.ts')).baselineCommand,
  },
  tournament: {
    description: 'let every player meet every other in every seat, and rate them',
    load: async () => (await import('./suites/tournament.ts')).tournamentCommand,
  },
  grade: {
    description: 'judge the sealed episodes of runs, and compare the verdicts of graders and people',
    load: async () => (await import('./evaluate/grade.ts')).gradeCommand,
  },
  bundle: {
    description: 'write runs as one HTML file, or as a folder for a web server, to share',
    load: async () => (await import('./show/bundle.ts')).bundleCommand,
  },
  export: {
    description: 'write the sealed episodes of a run in a format that trainers and viewers read',
    load: async () => (await import('./show/export.ts')).exportCommand,
  },
  check: {
    description: 'check a world for leaked secrets, nondeterminism and exploitable rewards',
    load: async () => (await import('./worlds/check.ts')).checkCommand,
  },
  dataset: {
    description: 'generate, validate, inspect and export datasets of tasks',
    load: async () => (await import('./worlds/dataset.ts')).datasetCommand,
  },
  suite: {
    description: 'compare worlds with published reference values',
    load: async () => (await import('./suites/suite.ts')).suiteCommand,
  },
  load: {
    description: 'load-test a world: throughput, latency, failures and server CPU per step',
    load: async () => (await import('./worlds/load.ts')).loadCommand,
  },
  sessions: {
    description: 'list the sessions of a server, dump one, or close that of a task',
    load: async () => (await import('./serve/sessions.ts')).sessionsCommand,
  },
  tools: {
    description: 'list the tools of any MCP server',
    load: async () => (await import('./play/tools.ts')).toolsCommand,
  },
  call: {
    description: 'call one tool of any MCP server',
    load: async () => (await import('./play/call.ts')).callCommand,
  },
}
