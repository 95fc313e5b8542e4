#!/usr/bin/env node
import '@episodic/harness/cli'
