export { defineMcpEnvironment, type Score } from './lib/environment/define-mcp-environment.ts'
export { tasksFromFile } from './lib/environment/tasks-from-file.ts'
export { readMcpServer } from './lib/servers/command-line.ts'
