export { defineMcpEnvironment } from './lib/environment/define-mcp-environment.ts'
export type { Score } from './lib/environment/mcp-environment-spec.ts'
export { tasksFromFile } from './lib/environment/tasks-from-file.ts'
export { readMcpServer } from './lib/servers/command-line.ts'
