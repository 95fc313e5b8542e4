export { environment, references, solver, tasks } from '@episodic/classics/frozen-lake'
