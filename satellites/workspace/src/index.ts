export { createDisk, type NewFile } from './lib/disk/create-disk.ts'
export { type Disk, disk, type Entry, type ReadOnlyDisk } from './lib/disk/disk.ts'
export { listFiles, readBytes, readFile } from './lib/disk/read-disk.ts'
export { type JudgedRun, type JudgeOptions, type JudgeTest, judge } from './lib/judge/judge.ts'
export { type CallTest, type JudgeCallsOptions, judgeCalls } from './lib/judge/judge-calls.ts'
export { type Judgement, judgement } from './lib/judge/judgement.ts'
export { type SubmitJudge, submitTool } from './lib/judge/submit-tool.ts'
export { type BubblewrapOptions, bubblewrap } from './lib/machine/bubblewrap.ts'
export { type DockerOptions, docker } from './lib/machine/docker.ts'
export { type E2bOptions, e2b } from './lib/machine/e2b.ts'
export {
  MACHINE_BOUNDS,
  type Machine,
  type MachineBounds,
  type MachineCommand,
  MachineError,
  type MachineErrorCode,
  type MachineResult,
} from './lib/machine/machine.ts'
export type { Program, ProgramContext, Service } from './lib/shell/programs.ts'
export { type CommandOptions, type CommandResult, runCommand } from './lib/tools/run-command.ts'
export type { MachineUse } from './lib/tools/run-on-machine.ts'
export { startWorkspace, type WorkspaceState, workspaceState } from './lib/tools/workspace-state.ts'
export { type WorkspaceOptions, workspaceTools } from './lib/tools/workspace-tools.ts'
