export { HarborTaskError } from './lib/harbor/harbor-task.ts'
export { harborWorld } from './lib/harbor/harbor-world.ts'
