export { createDisk } from './lib/disk/create-disk.ts'
export { type Disk, disk, type Entry, type ReadOnlyDisk } from './lib/disk/disk.ts'
export { listFiles, readBytes, readFile } from './lib/disk/read-disk.ts'
export { judge } from './lib/judge/judge.ts'
export { type CallTest, judgeCalls } from './lib/judge/judge-calls.ts'
export { judgement } from './lib/judge/judgement.ts'
export { submitTool } from './lib/judge/submit-tool.ts'
export { bubblewrap } from './lib/machine/bubblewrap.ts'
export { docker } from './lib/machine/docker.ts'
export { e2b } from './lib/machine/e2b.ts'
export {
  MACHINE_BOUNDS,
  type Machine,
  type MachineCommand,
  MachineError,
  type MachineResult,
} from './lib/machine/machine.ts'
export type { Program, ProgramContext, Service } from './lib/shell/programs.ts'
export { type CommandResult, runCommand } from './lib/tools/run-command.ts'
export { startWorkspace, type WorkspaceState, workspaceState } from './lib/tools/workspace-state.ts'
export { type WorkspaceOptions, workspaceTools } from './lib/tools/workspace-tools.ts'
