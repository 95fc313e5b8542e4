// Plain JavaScript, so that any Node can say what it lacks: the workspace runs from source, which wants types stripped.
const [major] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(
    `Episodic's workspace runs on Node 24 or newer, and this is Node ${process.versions.node}. On Linux it brings its own (installed by npm start and npm test); elsewhere install Node 24. Published packages run on Node 22.18.`,
  )
  process.exit(1)
}
