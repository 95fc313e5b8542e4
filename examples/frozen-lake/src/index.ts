export { environment, measure, references, solver, tasks } from '@episodic/classics/frozen-lake'
