export { isAsExpected, type PlayOptions, playScene, type Row } from './play-scene.ts'
export type { Outcome, Play, Scene, Stage } from './scenes/scene.ts'
export { scenes } from './scenes/scenes.ts'
export { formatTable } from './table.ts'
